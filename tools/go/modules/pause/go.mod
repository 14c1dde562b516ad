// What holds the namespaces of a pod.
module tools/pause

go 1.26.0
