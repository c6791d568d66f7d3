package live

import _ "go.etcd.io/etcd/server/v3/embed"
