package html

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

var shots = flag.String("screenshots", "", "the `folder` to which to write pictures of the pages, to look at")

// browser starts Chromium, where there is one.
func browser(t *testing.T) context.Context {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed; it is in the package chromium")
	}
	// Its processes outlive the one that is ended, and write for a while: a folder
	// that the test would have to leave empty may not be.
	profile, err := os.MkdirTemp("", "ktriage-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if err = os.RemoveAll(profile); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("left behind: %v", err)
	})
	alloc, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(time.Minute))...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	return ctx
}

// A visit is what a browser did with a page.
type visit struct {
	mu       sync.Mutex
	asked    []string // all URLs that it asked for
	said     []string // what it logged: violations of the policy, errors
	acted    int      // scripts that ran
	overflow bool     // it is wider than the screen
	words    string
}

// look shows a page on a screen, and takes a picture.
func look(t *testing.T, ctx context.Context, body []byte, name string, width int64, media string, features ...*emulation.MediaFeature) *visit {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	tab, end := chromedp.NewContext(ctx)
	defer end()
	v := &visit{}
	chromedp.ListenTarget(tab, func(ev any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			v.asked = append(v.asked, ev.Request.URL)
		case *log.EventEntryAdded:
			v.said = append(v.said, ev.Entry.Text)
		case *runtime.EventConsoleAPICalled, *cdppage.EventJavascriptDialogOpening:
			v.acted++
		}
	})
	var picture []byte
	var wide, screen int
	if err := chromedp.Run(tab, network.Enable(), log.Enable(), cdppage.Enable(),
		emulation.SetDeviceMetricsOverride(width, 800, 1, width < 600),
		emulation.SetEmulatedMedia().WithMedia(media).WithFeatures(features),
		chromedp.Navigate(srv.URL+"/"),
		chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
		chromedp.Evaluate(`document.documentElement.clientWidth`, &screen),
		chromedp.Evaluate(`document.body.innerText`, &v.words),
		chromedp.FullScreenshot(&picture, 90),
	); err != nil {
		t.Fatal(err)
	}
	v.overflow = wide > screen
	if *shots != "" {
		if err := os.WriteFile(filepath.Join(*shots, name+".jpg"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, u := range v.asked {
		if !strings.HasPrefix(u, srv.URL+"/") || strings.TrimPrefix(u, srv.URL) != "/" && !strings.HasSuffix(u, "/favicon.ico") {
			t.Errorf("%s: the browser asked for %s", name, u)
		}
	}
	for _, s := range v.said {
		if !strings.Contains(s, "favicon") {
			t.Errorf("%s: the browser says: %s", name, s)
		}
	}
	if v.acted > 0 {
		t.Errorf("%s: something in the page acted", name)
	}
	if v.overflow {
		t.Errorf("%s: the page is %d wide on a screen of %d", name, wide, screen)
	}
	return v
}

// TestABrowserShowsThePage looks at pages with Chromium: on a phone, on a desk,
// in the dark and in print.
func TestABrowserShowsThePage(t *testing.T) {
	ctx := browser(t)
	write := func(r *report.Report) []byte {
		var b bytes.Buffer
		if err := WriteAfter(&b, r, ago(r, 12)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	plain := write(reporttest.Sample())
	dark := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"}
	light := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "light"}
	for _, x := range []*visit{
		look(t, ctx, plain, "phone", 360, "screen", light),
		look(t, ctx, plain, "desk", 1200, "screen", light),
		look(t, ctx, plain, "dark", 1200, "screen", dark),
	} {
		for _, want := range []string{"log syncs: p99 2 s", "What to do next", "Vitals", "The other rules"} {
			if !strings.Contains(x.words, want) {
				t.Errorf("the page does not show %q", want)
			}
		}
	}
	paper := look(t, ctx, plain, "print", 794, "print", light)
	if !strings.Contains(paper.words, "writes: p99 6.4 s") || strings.Contains(paper.words, "The other rules") {
		t.Error("print has not the symptoms, or has the pages of rules that found nothing")
	}
	look(t, ctx, write(reporttest.Hostile()), "hostile", 360, "screen", light)
}

// TestThePolicyHolds shows that the browser of the test would tell of what the
// policy forbids.
func TestThePolicyHolds(t *testing.T) {
	ctx := browser(t)
	var b bytes.Buffer
	if err := Write(&b, reporttest.Sample()); err != nil {
		t.Fatal(err)
	}
	tab, end := chromedp.NewContext(ctx)
	defer end()
	var mu sync.Mutex
	var said []string
	chromedp.ListenTarget(tab, func(ev any) {
		if ev, ok := ev.(*log.EventEntryAdded); ok {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, ev.Entry.Text)
		}
	})
	asked := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			asked <- r.URL.Path
			return
		}
		_, _ = w.Write(bytes.Replace(b.Bytes(), []byte("</main>"), []byte(`<img src="/picture.png"><script>document.title = "acted"</script></main>`), 1))
	}))
	defer srv.Close()
	var title string
	if err := chromedp.Run(tab, log.Enable(), chromedp.Navigate(srv.URL+"/"), chromedp.Title(&title)); err != nil {
		t.Fatal(err)
	}
	close(asked)
	for path := range asked {
		if path != "/favicon.ico" {
			t.Errorf("the browser asked for %s", path)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if title == "acted" || !strings.Contains(strings.Join(said, "\n"), "Content Security Policy") {
		t.Errorf("the title is %q, and the browser says %q", title, said)
	}
}
