package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Clients ask one API server the same thing over and over, as fast as it
// answers: a tool that lists everything all the time. They speak to the lab's
// own addresses only.
type Clients struct {
	Kubeconfig string
	Path       string // with its query
	Body       string // JSON, to be posted; without one they read
	Pad        int    // bytes that stand in the place of Padding in the body
	Count      int    // how many ask at a time
	Pause      time.Duration
}

// Padding is the place for Pad in a body that is too large to be told.
const Padding = "{pad}"

// maxClients bounds what a fault may ask for.
const maxClients = 32

func (c *Clients) run(ctx context.Context) error {
	config, err := restConfig(c.Kubeconfig)
	if err != nil {
		return err
	}
	if err := private(config.Host); err != nil {
		return err
	}
	body := strings.Replace(c.Body, Padding, strings.Repeat("#", c.Pad), 1)
	var wg sync.WaitGroup
	for range min(c.Count, maxClients) {
		config := rest.CopyConfig(config)
		config.UserAgent = "greedy-client"
		// A connection each, as separate programs have.
		config.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				ask(ctx, client, strings.TrimSuffix(config.Host, "/")+c.Path, body)
				select {
				case <-ctx.Done():
				case <-time.After(c.Pause):
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// private refuses servers that are not on this machine: a lab's addresses are
// private ones.
func private(host string) error {
	server, err := url.Parse(host)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(server.Hostname()); ip == nil || !ip.IsPrivate() {
		return fmt.Errorf("%s is not an address of a lab", host)
	}
	return nil
}

// ask reads a reply and throws it away. It does not honour Retry-After: such
// clients don't.
func ask(ctx context.Context, client *http.Client, url, body string) {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
}
