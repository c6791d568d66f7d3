package live

import (
	"encoding/base64"
	"encoding/json"
	"testing"
)

func tokenOf(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
}

func TestTokenEnd(t *testing.T) {
	if got := tokenEnd(tokenOf(`{"exp":1700000000}`)); got == nil || got.Unix() != 1700000000 {
		t.Errorf("got %v", got)
	}
	for _, token := range []string{"", "opaque", "a.b", "a.!.c", tokenOf(""), tokenOf("null"), tokenOf("{}"), tokenOf(`{"exp":"soon"}`), tokenOf(`{"exp":-1}`), tokenOf(`{"exp":1.5}`), tokenOf(`{"exp":1e300}`), tokenOf(`{"exp":9000000000000}`)} {
		if got := tokenEnd(token); got != nil {
			t.Errorf("%q ends %v", token, got)
		}
	}
}

// FuzzTokenEnd: a token is the user's, and what it says goes into what is told of
// the kubeconfig, which must stay JSON.
func FuzzTokenEnd(f *testing.F) {
	f.Add(tokenOf(`{"exp":1700000000}`))
	f.Add(tokenOf(`{"exp":253402300800}`))
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := json.Marshal(tokenEnd(token)); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	})
}
