package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Client speaks to a supervisor.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient returns a client of the supervisor that listens at socket.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{socket: socket, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Status asks how the lab is. It fails when no supervisor listens.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	body, err := c.do(ctx, http.MethodGet, "status", nil)
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return status, fmt.Errorf("read the supervisor's status: %w", err)
	}
	return status, nil
}

// State is the process of that name.
func (c *Client) State(ctx context.Context, name string) (State, error) {
	status, err := c.Status(ctx)
	if err != nil {
		return State{}, err
	}
	for _, s := range status.Procs {
		if s.Name == name {
			return s, nil
		}
	}
	return State{}, fmt.Errorf("no process %s in this lab", name)
}

// Start runs a process, replacing one of the same name.
func (c *Client) Start(ctx context.Context, spec Spec) error {
	return c.post(ctx, "start", command{Spec: spec})
}

// Hold ends a process with sig and keeps it down until Release.
func (c *Client) Hold(ctx context.Context, name string, sig syscall.Signal) error {
	return c.post(ctx, "hold", command{Name: name, Signal: sig})
}

// Release starts a held process again.
func (c *Client) Release(ctx context.Context, name string) error {
	return c.post(ctx, "release", command{Name: name})
}

// Signal sends sig to a running process.
func (c *Client) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	return c.post(ctx, "signal", command{Name: name, Signal: sig})
}

// Stop ends a process and forgets it.
func (c *Client) Stop(ctx context.Context, name string) error {
	return c.post(ctx, "stop", command{Name: name})
}

// Forget lets all processes look as if they had never crashed.
func (c *Client) Forget(ctx context.Context) error { return c.post(ctx, "forget", command{}) }

// Shutdown asks the supervisor to stop everything and end.
func (c *Client) Shutdown(ctx context.Context) error { return c.post(ctx, "shutdown", command{}) }

func (c *Client) post(ctx context.Context, path string, cmd command) error {
	body, err := json.Marshal(cmd)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, http.MethodPost, path, body)
	return err
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://supervisor/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the supervisor at %s: %w", c.socket, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the supervisor to %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	return text, nil
}
