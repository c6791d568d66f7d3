package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ktriage/ktriage/collectors"
)

// maxMessage bounds what is read of an error's body, and maxQuoted what of it
// is shown.
const (
	maxMessage = 64 << 10
	maxQuoted  = 400
)

// judge makes a Reply of an answer, or the Gap that its status stands for. Of
// an answer that is a gap the body is read and closed.
//
// A remedy for 401 and 403 depends on who was asked, so the caller adds it.
func judge(way string, verb collectors.Verb, a *answer) (*collectors.Reply, *collectors.Gap) {
	code := a.StatusCode
	switch {
	case code >= 200 && code < 300:
		if isHTML(a.Header) {
			a.drop()
			return nil, collectors.Gapf(collectors.Malformed, "%s: it answers with a web page: a login page or a proxy stands where the API should be", way)
		}
		return a.reply(way), nil
	case code >= 500 && verb == collectors.Get:
		return a.reply(way), nil
	case code >= 300 && code < 400:
		a.drop()
		return nil, collectors.Gapf(collectors.Malformed, "%s: it redirects to %s, where no credentials are sent: a login page or a proxy stands where the API should be", way, hostOf(a.Header.Get("Location")))
	}
	st, _ := readStatus(a)
	return nil, statusGap(way, code, st.Message)
}

// statusGap is the Gap that an HTTP status stands for.
func statusGap(way string, code int, message string) *collectors.Gap {
	reason := collectors.ServerError
	switch code {
	case http.StatusUnauthorized:
		reason = collectors.Unauthorized
	case http.StatusForbidden:
		reason = collectors.Forbidden
	case http.StatusNotFound:
		reason = collectors.Absent
	}
	words := fmt.Sprintf("%s: HTTP %d %s", way, code, http.StatusText(code))
	if message != "" {
		words += ": " + message
	}
	return &collectors.Gap{Reason: reason, Detail: words}
}

// readStatus reads the body of an error and closes it. ok says that it is a
// Status of Kubernetes; otherwise Message holds what text there is.
func readStatus(a *answer) (st metav1.Status, ok bool) {
	defer a.drop()
	b, _ := io.ReadAll(io.LimitReader(a.Body, maxMessage)) // of an error, what came is enough
	if rest, isProto := bytes.CutPrefix(b, []byte("k8s\x00")); isProto {
		var u runtime.Unknown
		if u.Unmarshal(rest) == nil && u.Kind == "Status" && st.Unmarshal(u.Raw) == nil {
			return st, true
		}
		return metav1.Status{}, false
	}
	if json.Unmarshal(b, &st) == nil && st.Kind == "Status" {
		return st, true
	}
	if isHTML(a.Header) {
		return metav1.Status{Message: "a web page, so not from the component itself"}, false
	}
	return metav1.Status{Message: quote(string(b))}, false
}

// quote cuts a text from a server to one line that fits a report.
func quote(s string) string {
	return collectors.OneLine(strings.ToValidUTF8(s, "?"), maxQuoted)
}

func isHTML(h http.Header) bool {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && t == "text/html"
}

// hostOf names the host of a URL and nothing else of it: redirects to login
// pages carry secrets.
func hostOf(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another path"
	}
	return u.Host
}
