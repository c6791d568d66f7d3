package cluster

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestRelayTakesItsTimeBothWays(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()
	const delay = 20 * time.Millisecond
	client, server := net.Pipe()
	defer client.Close()
	r := &Relay{Target: echo.Addr().String(), Delay: delay}
	go r.pass(t.Context(), server)

	start := time.Now()
	want := "there and back"
	go io.WriteString(client, want)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if took := time.Since(start); took < 2*delay {
		t.Errorf("took %s, want %s at least", took, 2*delay)
	}
}
