// Package modempage reads a modem's own page on the local network, by a small file that says where which number is.
package modempage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"downlink/agents/internal/outside/observe"
)

const (
	// LongestFile, LongestPage and Patience bound what a file and a page may take.
	LongestFile = 64 << 10
	LongestPage = 512 << 10
	Patience    = 5 * time.Second
	mostNumbers = 50
	leastEveryS = 5
	mostEveryS  = 86_400
)

// Page says where a page is and what is read of it.
type Page struct {
	Name       string   `yaml:"name"`
	URL        string   `yaml:"url"`
	Format     string   `yaml:"format"`
	EveryS     float64  `yaml:"every_s"`
	Quantities []Number `yaml:"quantities"`
}

// Number is one quantity: by its path in JSON (`rf.0.snr`), or by a regular expression with one group.
type Number struct {
	Quantity string `yaml:"quantity"`
	Unit     string `yaml:"unit"`
	JSON     string `yaml:"json"`
	Pattern  string `yaml:"pattern"`
	// Factor turns the page's unit into this one; 1 where it is left out.
	Factor  float64 `yaml:"factor"`
	pattern *regexp.Regexp
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,60}$`)

// Load reads and checks a file; an unknown key is an error.
func Load(path string) (*Page, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("modem page: %w", err)
	}
	if info.Size() > LongestFile {
		return nil, fmt.Errorf("modem page %s: the file is longer than %d KiB", path, LongestFile>>10)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("modem page: %w", err)
	}
	page, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("modem page %s: %w", path, err)
	}
	return page, nil
}

// Parse checks the text of a file.
func Parse(content []byte) (*Page, error) {
	page := &Page{EveryS: 60}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(page); err != nil {
		return nil, err
	}
	address, err := url.Parse(page.URL)
	switch {
	case err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "":
		return nil, fmt.Errorf("url: %q must be a whole address such as http://192.168.100.1/status.json", page.URL)
	case page.Name == "" || len(page.Name) > 40:
		return nil, errors.New("name: 1 to 40 characters")
	case page.Format != "json" && page.Format != "text":
		return nil, fmt.Errorf("format: %q is neither json nor text", page.Format)
	case !(page.EveryS >= leastEveryS && page.EveryS <= mostEveryS): // .nan is neither
		return nil, fmt.Errorf("every_s: %g is not from %d to %d", page.EveryS, leastEveryS, mostEveryS)
	case len(page.Quantities) == 0 || len(page.Quantities) > mostNumbers:
		return nil, fmt.Errorf("quantities: 1 to %d", mostNumbers)
	}
	for i := range page.Quantities {
		if err := page.Quantities[i].check(page.Format); err != nil {
			return nil, fmt.Errorf("quantities[%d]: %w", i, err)
		}
	}
	return page, nil
}

func (n *Number) check(format string) error {
	if !namePattern.MatchString(n.Quantity) {
		return fmt.Errorf("quantity: %q must be written as in modem.snr_db", n.Quantity)
	}
	if n.Unit == "" || len(n.Unit) > 20 {
		return errors.New("unit: 1 to 20 characters")
	}
	if math.IsNaN(n.Factor) || math.IsInf(n.Factor, 0) {
		return fmt.Errorf("factor: %g is not a number to multiply with", n.Factor)
	}
	if n.Factor == 0 {
		n.Factor = 1
	}
	if format == "json" {
		if n.JSON == "" || n.Pattern != "" {
			return errors.New("json: say the path of the number, such as rf.0.snr; pattern is for text")
		}
		return nil
	}
	if n.Pattern == "" || n.JSON != "" {
		return errors.New("pattern: say a regular expression with one group, such as SNR: *([0-9.]+); json is for pages of JSON")
	}
	pattern, err := regexp.Compile(n.Pattern) // in time that is linear in the page, whatever the expression
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	if pattern.NumSubexp() != 1 {
		return fmt.Errorf("pattern: %q must have one group, which is the number", n.Pattern)
	}
	n.pattern = pattern
	return nil
}

// Reader calls this page and no other address: it follows no redirect and uses no proxy.
type Reader struct {
	page   *Page
	client *http.Client
}

// NewReader reads this page.
func NewReader(page *Page) *Reader {
	transport := &http.Transport{Proxy: nil, DisableKeepAlives: true, ResponseHeaderTimeout: Patience, MaxResponseHeaderBytes: 64 << 10}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Reader{page: page, client: &http.Client{Transport: transport, CheckRedirect: refuse, Timeout: Patience}}
}

// Read returns the numbers that the page shows now; what it does not show is left out.
func (r *Reader) Read(ctx context.Context, now time.Time) ([]observe.Observation, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.page.URL, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("modem page: %w", err)
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("modem page: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("modem page %s answered %d", r.page.Name, answer.StatusCode)
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, LongestPage+1))
	if err != nil {
		return nil, fmt.Errorf("modem page: %w", err)
	}
	if len(content) > LongestPage {
		return nil, fmt.Errorf("modem page %s is longer than %d KiB", r.page.Name, LongestPage>>10)
	}
	return r.page.numbers(content, now)
}

func (p *Page) numbers(content []byte, now time.Time) ([]observe.Observation, error) {
	var data any
	if p.Format == "json" {
		if err := json.Unmarshal(content, &data); err != nil {
			return nil, fmt.Errorf("modem page %s is not JSON: %w", p.Name, err)
		}
	}
	var found []observe.Observation
	for _, each := range p.Quantities {
		text, known := each.find(content, data)
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		value *= each.Factor
		if known && err == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			found = append(found, observe.Observation{Quantity: each.Quantity, Unit: each.Unit, Source: p.Name, At: now, Value: value})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("modem page %s shows none of the numbers that the file names", p.Name)
	}
	return found, nil
}

func (n *Number) find(content []byte, data any) (string, bool) {
	if n.pattern != nil {
		match := n.pattern.FindSubmatch(content)
		if match == nil {
			return "", false
		}
		return string(match[1]), true
	}
	for part := range strings.SplitSeq(n.JSON, ".") {
		switch is := data.(type) {
		case map[string]any:
			data = is[part]
		case []any:
			place, err := strconv.Atoi(part)
			if err != nil || place < 0 || place >= len(is) {
				return "", false
			}
			data = is[place]
		default:
			return "", false
		}
	}
	switch is := data.(type) {
	case float64:
		return strconv.FormatFloat(is, 'g', -1, 64), true
	case string:
		return is, true
	case bool:
		return map[bool]string{true: "1", false: "0"}[is], true
	default:
		return "", false
	}
}
