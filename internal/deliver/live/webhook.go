// Package live sends what package deliver makes. Only reports are sent; what is
// written to a cluster goes by remediate/live.
package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Webhook is where a payload is sent.
type Webhook struct {
	URL           *url.URL
	Authorization string // the header, or empty
	Agent         string
	// Wait waits before another try; nil waits as long as it is told.
	Wait func(context.Context, time.Duration) error
}

const (
	// tries is how often a payload is sent at most.
	tries = 3
	// each is how long one try may take.
	each = 10 * time.Second
	// longest bounds what a server may ask to wait for.
	longest = 30 * time.Second
)

// Place is the webhook as it may be shown: its host. The path and the query of a
// webhook are its password, more often than not.
func (h Webhook) Place() string { return h.URL.Host }

// Send sends a document as JSON. A try that fails on the way, or that the server
// answers with 429 or 5xx, is repeated, at most twice; each has the same
// Idempotency-Key.
func (h Webhook) Send(ctx context.Context, doc any) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	client := &http.Client{
		Timeout: each,
		// A redirect would take the payload to where nobody has said.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	wait := time.Second
	for n := 1; ; n++ {
		again, after, err := h.try(ctx, client, body, hex.EncodeToString(sum[:16]))
		if err == nil {
			return nil
		}
		if !again || n == tries || ctx.Err() != nil {
			return fmt.Errorf("webhook at %s: %w, %d of %d tries made", h.Place(), err, n, tries)
		}
		if after > 0 {
			wait = min(after, longest)
		}
		if err := h.wait(ctx, wait); err != nil {
			return fmt.Errorf("webhook at %s: stopped before it was tried again: %w", h.Place(), err)
		}
		wait *= 3
	}
}

func (h Webhook) wait(ctx context.Context, d time.Duration) error {
	if h.Wait != nil {
		return h.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (h Webhook) try(ctx context.Context, client *http.Client, body []byte, key string) (again bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL.String(), bytes.NewReader(body))
	if err != nil {
		return false, 0, errors.New("the URL makes no request")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", h.Agent)
	req.Header.Set("Idempotency-Key", key)
	if h.Authorization != "" {
		req.Header.Set("Authorization", h.Authorization)
	}
	resp, err := client.Do(req)
	if err != nil {
		var whole *url.Error // its text has the URL
		if errors.As(err, &whole) {
			err = whole.Err
		}
		return true, 0, h.hide(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	switch {
	case resp.StatusCode < 300:
		return false, 0, nil
	case resp.StatusCode < 400:
		return false, 0, fmt.Errorf("it answered %d, a redirect, which is not followed", resp.StatusCode)
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		after = time.Duration(min(s, 3600)) * time.Second
	}
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500, after, fmt.Errorf("it answered %d", resp.StatusCode)
}

// hide takes out of an error what of the URL it repeats.
func (h Webhook) hide(err error) error {
	s := err.Error()
	for _, secret := range []string{h.URL.String(), h.URL.RequestURI(), h.URL.RawQuery, h.URL.User.String()} {
		if len(secret) > 1 {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return errors.New(s)
}
