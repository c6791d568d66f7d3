package netns

import (
	"os"
	"path/filepath"
)

// named says whether iproute2 knows a namespace of this name.
func named(space string) bool {
	_, err := os.Stat(filepath.Join(runDir, space))
	return err == nil
}
