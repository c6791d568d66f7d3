package build

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// ModuleDir finds the folder of the lab module from the current one, by asking
// the go command: binaries can be built only from there.
func ModuleDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the module in this folder: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(filepath.Dir(mod)) != "lab" {
		return "", fmt.Errorf("not in the lab module: go to the checkout's lab folder first")
	}
	return filepath.Dir(mod), nil
}
