// Its definitions alone: what it knows of Certificates and Issuers.
module controlplane/cert-manager-newest

go 1.26.0

require github.com/cert-manager/cert-manager v1.21.2
