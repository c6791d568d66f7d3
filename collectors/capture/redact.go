package capture

import (
	"bytes"
	"encoding/base64"
	"regexp"
)

// withoutKeys returns what is to be written, with the private keys in it masked:
// what a user sends on is to hold none, even where somebody pasted one into a
// place for certificates, such as the caBundle of a webhook. Blocks of PEM are
// found as they are, as part of a JSON string, and within base64, as JSON has
// bytes. Masks are as long as what they cover, so that the body stays what it is:
// protobuf with its lengths, JSON, and PEM that can be read.
func withoutKeys(b []byte) []byte {
	if !mayHoldKey(b) {
		return b
	}
	b = bytes.Clone(b)
	maskKeys(b)
	maskEncoded(b)
	return b
}

// keyName is what the label of every private key in PEM ends in.
const keyName = "PRIVATE KEY"

// encodedNames are what it becomes in base64, by where it begins within a group
// of three bytes; without the characters that depend on what stands beside it.
var encodedNames = func() (out [][]byte) {
	for before := range 3 {
		s := base64.StdEncoding.EncodeToString(append(make([]byte, before), keyName...))
		first := []int{0, 2, 3}[before]
		out = append(out, []byte(s[first:(before+len(keyName))/3*4]))
	}
	return out
}()

// mayHoldKey is the quick look at what nearly always holds none.
func mayHoldKey(b []byte) bool {
	if bytes.Contains(b, []byte(keyName)) {
		return true
	}
	joined := inOneLine(b) // base64 may be broken into lines
	for _, name := range encodedNames {
		if bytes.Contains(joined, name) {
			return true
		}
	}
	return false
}

// inOneLine leaves out the ends of lines, those in strings of JSON, too.
func inOneLine(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\r' || c == '\n':
		case c == '\\' && i+1 < len(b) && (b[i+1] == 'n' || b[i+1] == 'r'):
			i++
		default:
			out = append(out, c)
		}
	}
	return out
}

var (
	keyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = []byte("-----END")
	// encoded is base64, maybe in lines, that is long enough for the label.
	encoded = regexp.MustCompile(`[A-Za-z0-9+/](?:[A-Za-z0-9+/]|\r|\n|\\r|\\n){30,}={0,2}`)
)

// maskKeys masks, in place, what follows the first line of each private key, up
// to its last line. A key that is broken off is masked up to where its text ends.
func maskKeys(b []byte) (found bool) {
	for {
		at := keyBegin.FindIndex(b)
		if at == nil {
			return found
		}
		found = true
		b = b[at[1]:]
		for i := 0; i < len(b) && !bytes.HasPrefix(b[i:], keyEnd); i++ {
			switch c := b[i]; {
			case c == '\\' && i+1 < len(b) && b[i+1] == 'u':
				i += min(5, len(b)-1-i)
			case c == '\\':
				i++
			case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '+', c == '/':
				b[i] = 'x'
			case c == '=', c == '\r', c == '\n', c == ' ', c == '\t', c == ':', c == ',', c == '-', c == '_', c == '.':
				// the end of base64, lines, and the headers of encrypted keys
			default:
				b = b[i:]
				i = len(b)
			}
		}
	}
}

// maskEncoded masks private keys that are within base64, in place.
func maskEncoded(b []byte) {
	for _, at := range encoded.FindAllIndex(b, -1) {
		run := b[at[0]:at[1]]
		var where []int // of the characters of base64
		for i := 0; i < len(run); i++ {
			switch run[i] {
			case '\\':
				i++
			case '\r', '\n':
			default:
				where = append(where, i)
			}
		}
		// What does not begin where the base64 does is not read right: a text that
		// stands right before it moves the groups.
		for skip := range 4 {
			if skip >= len(where) {
				break
			}
			text := make([]byte, 0, len(where))
			for _, i := range where[skip:] {
				text = append(text, run[i])
			}
			text = text[:len(text)/4*4]
			plain := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
			n, _ := base64.StdEncoding.Decode(plain, text) // as far as it goes
			plain = plain[:n/3*3]
			if !maskKeys(plain) {
				continue
			}
			base64.StdEncoding.Encode(text, plain)
			for k := range base64.StdEncoding.EncodedLen(len(plain)) {
				run[where[skip+k]] = text[k]
			}
			break
		}
	}
}
