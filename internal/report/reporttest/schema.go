package reporttest

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate holds a document against a JSON Schema.
func Validate(schema, doc []byte) error {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const name = "schema.json"
	if err := c.AddResource(name, s); err != nil {
		return err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return err
	}
	d, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	return compiled.Validate(d)
}
