package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is set by the release build: -ldflags "-X …/internal/cli.Version=v1.2.3".
var Version = ""

// version is the release, or what the Go toolchain knows of the build.
func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// A versionDoc is what version -o json writes.
type versionDoc struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // with "-dirty" where the tree was changed
	Date     string `json:"date,omitempty"`   // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionOf() versionDoc {
	d := versionDoc{Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return d
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			d.Commit = s.Value
		case "vcs.time":
			d.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if d.Commit != "" {
		d.Commit += dirty
	}
	return d
}

func (a *app) version() *cobra.Command {
	var out form
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version, and what it was built from",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return out.write(a, versionOf(), func(bool) string { return fmt.Sprintln("ktriage", version()) })
		},
	}
	out.add(cmd.Flags(), "text", "json", "yaml")
	return cmd
}
