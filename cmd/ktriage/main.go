// Ktriage tells what is wrong with a Kubernetes control plane, why, and what to
// do. Installed as kubectl-ktriage it is the kubectl plugin of that name.
package main

import (
	"os"

	"github.com/ktriage/ktriage/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.Terminal()))
}
