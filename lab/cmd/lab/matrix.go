package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/faults"
	"github.com/ktriage/ktriage/lab/matrix"
)

// ktriageEnv names the program under test.
const ktriageEnv = "KTRIAGE_BIN"

func matrixCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("matrix", flag.ContinueOnError)
	run := flags.String("run", "", "try only what the regular expression matches")
	out := flags.String("o", "", "write the table to this Markdown file")
	record := flags.String("record", "", "write a recording of each fault to this folder")
	from := flags.String("from", "", "judge the recordings in this folder again, without a lab")
	slow := flags.Bool("slow", false, "try also what needs many minutes to show")
	verbose := flags.Bool("v", false, "show every report whole")
	var line string
	kubernetesVar(flags, &line)
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	match, err := regexp.Compile(*run)
	if err != nil {
		return fmt.Errorf("%w: -run: %w", errUsage, err)
	}
	ktriage := os.Getenv(ktriageEnv)
	if ktriage == "" {
		return fmt.Errorf("%s does not name the ktriage to try", ktriageEnv)
	}
	versions, err := build.Find(line)
	if err != nil {
		return err
	}
	if *record != "" {
		*record = recordings(*record, versions)
		if err := os.MkdirAll(*record, 0o755); err != nil {
			return err
		}
	}
	dir, err := matrixDir(ctx)
	if err != nil && *from == "" {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	var list []faults.Fault
	for _, f := range slices.Concat(faults.Shapes(), faults.All()) {
		if match.MatchString(f.Name) && (*slow || !f.Slow || *from != "") {
			list = append(list, f)
		}
	}
	config := matrix.Config{
		Ktriage: ktriage,
		Base:    cluster.Options{Dir: dir, Kubernetes: line},
		Up: func(ctx context.Context, o cluster.Options) (*cluster.Lab, error) {
			return cluster.Up(ctx, o, []string{self, "supervise"}, os.Stderr)
		},
		RecordDir: *record,
		Progress:  os.Stdout,
		Verbose:   *verbose,
	}
	var results []matrix.Result
	if *from != "" {
		results = matrix.Rejudge(ctx, config, recordings(*from, versions), list)
	} else {
		results = matrix.Run(ctx, config, list)
	}
	if *out != "" {
		if err := os.WriteFile(*out, []byte(matrix.Markdown(results, versions)), 0o644); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%d of %d were not tried: %w", len(list)-len(results), len(list), err)
	}
	if len(results) == 0 {
		return errors.New("nothing to try: no fault matches")
	}
	wrong := 0
	for _, r := range results {
		if !r.Right() {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d are wrong", wrong, len(results))
	}
	return nil
}

// recordings is where those of a set of versions are kept below dir: a run on
// another line of Kubernetes leaves the default's as they are.
func recordings(dir string, v build.Versions) string {
	if v == build.Default {
		return dir
	}
	return filepath.Join(dir, v.Line())
}

// matrixDir is where the matrix has its labs, one at a time: the folder that is
// set for labs, or one beside the default lab, which stays as it is.
func matrixDir(ctx context.Context) (string, error) {
	dir := os.Getenv(cluster.DirEnv)
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "ktriage-matrix")
	}
	if lab, err := cluster.Open(dir); err == nil {
		if _, err := lab.Supervisor.Status(ctx); err == nil {
			return "", errors.New("a lab runs in " + dir + ": take it down first, or set " + cluster.DirEnv)
		}
	}
	return dir, nil
}
