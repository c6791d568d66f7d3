package render

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/report"
)

// JSON writes the document itself, indented.
func JSON(w io.Writer, r *report.Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// YAML writes the document itself as YAML.
func YAML(w io.Writer, r *report.Report) error {
	b, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	_, err = w.Write(b)
	return err
}
