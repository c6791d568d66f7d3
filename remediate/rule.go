package remediate

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"

	"github.com/ktriage/ktriage/collectors/etcd"
)

// A Rule says of a database whether it is worth a defragmentation.
type Rule struct {
	text string
	prog cel.Program
}

// The bounds of an expression. The default has 79 characters and costs some twenty.
const (
	maxRule     = 1000
	maxRuleCost = 10_000
)

// ParseRule reads a CEL expression over size, inUse, free and quota, in bytes,
// and usage (size of quota) and fragmentation (free of size), as ratios.
func ParseRule(text string) (*Rule, error) {
	if len(text) > maxRule {
		return nil, fmt.Errorf("a rule of %d characters is over %d", len(text), maxRule)
	}
	env, err := cel.NewEnv(
		cel.Variable("size", cel.IntType), cel.Variable("inUse", cel.IntType), cel.Variable("free", cel.IntType), cel.Variable("quota", cel.IntType),
		cel.Variable("usage", cel.DoubleType), cel.Variable("fragmentation", cel.DoubleType),
		cel.Variable("KiB", cel.IntType), cel.Variable("MiB", cel.IntType), cel.Variable("GiB", cel.IntType),
	)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("%q is no rule: %w", text, issues.Err())
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("%q is no rule: it yields %s, not true or false", text, ast.OutputType())
	}
	prog, err := env.Program(ast, cel.CostLimit(maxRuleCost))
	if err != nil {
		return nil, fmt.Errorf("%q is no rule: %w", text, err)
	}
	r := &Rule{text, prog}
	// A rule that divides by zero, or costs too much, is found out now.
	if _, err := r.Matches(etcd.Space{Size: 2 << 30, InUse: 1 << 30, Quota: 8 << 30}); err != nil {
		return nil, err
	}
	return r, nil
}

// errNoQuota is why a rule about the quota cannot be judged. It is not 2 GiB
// for want of a better number.
var errNoQuota = errors.New("its quota is not known")

// Matches judges a database. Where the quota is not known, a rule that depends
// on it is an error.
func (r *Rule) Matches(db etcd.Space) (bool, error) {
	vars := map[string]any{
		"size": db.Size, "inUse": db.InUse, "free": db.Free(), "fragmentation": ratio(db.Free(), db.Size),
		"KiB": int64(1 << 10), "MiB": int64(1 << 20), "GiB": int64(1 << 30),
	}
	switch {
	case db.Quota > 0:
		vars["quota"], vars["usage"] = db.Quota, ratio(db.Size, db.Quota)
	case db.Quota < 0: // unlimited
		vars["quota"], vars["usage"] = int64(1)<<62, 0.0
	}
	out, _, err := r.prog.Eval(vars)
	if err != nil {
		if db.Quota == 0 {
			return false, fmt.Errorf("%q: %w", r.text, errNoQuota)
		}
		return false, fmt.Errorf("%q: %w", r.text, err)
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%q yields %v, not true or false", r.text, out)
	}
	return b, nil
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
