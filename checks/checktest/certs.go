package checktest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"regexp"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// macro is a certificate in a case, made when the case is read:
//
//	{{cert cn=guard by=guard-ca until=2026-02-01 dns=guard.shop.svc ip=10.0.0.1}}
//
// stands for one as PEM that the CA of that name signed; without by= it is the
// CA of its own name. from= is when it begins to be valid. {{cert64 …}} is the
// same in base64, and {{certjson …}} as the inside of a JSON string. The keys
// follow from the names, so that a case always says the same.
var macro = regexp.MustCompile(`\{\{(cert|cert64|certjson) ([^}]*)\}\}`)

// expand makes the certificates of an archive.
func expand(a *txtar.Archive) (*txtar.Archive, error) {
	out := &txtar.Archive{Comment: a.Comment}
	var failed error
	for _, f := range a.Files {
		body := macro.ReplaceAllFunc(f.Data, func(m []byte) []byte {
			parts := macro.FindSubmatch(m)
			text, err := certificate(string(parts[2]))
			if err != nil {
				failed = fmt.Errorf("%s: %s: %w", f.Name, m, err)
				return m
			}
			switch string(parts[1]) {
			case "cert64":
				return []byte(base64.StdEncoding.EncodeToString(text))
			case "certjson":
				return []byte(strings.ReplaceAll(string(text), "\n", `\n`))
			}
			return text
		})
		out.Files = append(out.Files, txtar.File{Name: f.Name, Data: body})
	}
	return out, failed
}

func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: Now.AddDate(-5, 0, 0), NotAfter: Now.AddDate(5, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

func certificate(spec string) ([]byte, error) {
	c := authority("")
	by := ""
	for _, word := range strings.Fields(spec) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "cn":
			c.Subject.CommonName = value
		case "by":
			by, c.IsCA, c.KeyUsage = value, false, x509.KeyUsageDigitalSignature
			c.NotBefore, c.SerialNumber = Now.AddDate(0, -6, 0), big.NewInt(2)
		case "serial":
			_, err = fmt.Sscan(value, c.SerialNumber)
		case "from":
			c.NotBefore, err = time.Parse(time.DateOnly, value)
		case "until":
			c.NotAfter, err = time.Parse(time.DateOnly, value)
		case "dns":
			c.DNSNames = strings.Split(value, ",")
		case "ip":
			for _, ip := range strings.Split(value, ",") {
				c.IPAddresses = append(c.IPAddresses, net.ParseIP(ip))
			}
		default:
			err = fmt.Errorf("no such word: %q", word)
		}
		if err != nil {
			return nil, err
		}
	}
	parent, signer := c, c.Subject.CommonName
	if by != "" {
		parent, signer = authority(by), by
	}
	der, err := x509.CreateCertificate(nil, c, parent, keyOf(c.Subject.CommonName).Public(), keyOf(signer))
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
