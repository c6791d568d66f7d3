package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/remediate"
)

func (a *app) plan() *cobra.Command {
	var f cureFlags
	var out string
	cmd := &cobra.Command{
		Use:   "plan RECIPE",
		Short: "Show what a cure would do, and save it for review; changes nothing",
		Long: `Look at etcd and show the steps of a cure: why each is taken, what clients will
notice, the command that does the same by hand, how to go back, and what is
checked before and after. Nothing is changed.

The file that -o writes is for ktriage apply, which refuses it for another
cluster, after a change, or when it is old.

Recipes: ` + recipeNames() + `.

Exit codes: 0 planned, or nothing to do; 4 refused; 64 wrong usage.`,
		Example: `  ktriage plan etcd-defrag -o plan.json && ktriage apply plan.json
  ktriage plan etcd-defrag --rule 'fragmentation > 0.3' --members cp-2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := recipe(args)
			if err != nil {
				return err
			}
			s, err := a.surgery(&f)
			if err != nil {
				return err
			}
			defer s.close()
			p, err := s.plan(cmd.Context(), r)
			if err != nil {
				return err
			}
			if out == "-" {
				b, err := planJSON(p)
				if err != nil {
					return err
				}
				_, err = a.Stdout.Write(b)
				return err
			}
			show(a.Stdout, p)
			if out == "" || f.dryRun {
				return nil
			}
			if err := savePlan(out, p); err != nil {
				return fmt.Errorf("write plan: %w", err)
			}
			a.note("wrote %s; carry it out with: %s apply %s", out, a.name(), out)
			return nil
		},
	}
	f.addReach(cmd.Flags())
	f.addOptions(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "", "also write the plan to `FILE`, as JSON; - writes that to standard output and nothing else")
	return cmd
}

func planJSON(p *remediate.Plan) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(p)
	return b.Bytes(), err
}

// savePlan writes a plan to a file that appears when it is whole.
func savePlan(path string, p *remediate.Plan) error {
	b, err := planJSON(p)
	if err != nil {
		return err
	}
	return saveFile(path, b)
}

// saveFile writes a file that appears when it is whole.
func saveFile(path string, b []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".ktriage-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // is gone by then if all went well
	defer file.Close()
	if _, err := file.Write(b); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
