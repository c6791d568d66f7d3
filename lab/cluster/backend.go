package cluster

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"time"
)

// Backend is an HTTPS server that plays an admission webhook: it allows
// everything, after Delay.
type Backend struct {
	Addr      string
	Cert, Key string // files
	Delay     time.Duration
}

func (b *Backend) serve(ctx context.Context) error {
	server := &http.Server{Addr: b.Addr, Handler: http.HandlerFunc(b.admit), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	log.Printf("serving on %s", b.Addr)
	return server.ListenAndServeTLS(b.Cert, b.Key)
}

// maxReview is above the largest object that an API server takes.
const maxReview = 4 << 20

func (b *Backend) admit(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(b.Delay):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review.APIVersion, "kind": review.Kind,
		"response": map[string]any{"uid": review.Request.UID, "allowed": true},
	})
}
