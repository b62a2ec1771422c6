package uplink

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"downlink/agents/internal/server/protocol"
)

const (
	// replyLimit bounds what a server can make an agent hold.
	replyLimit = 4 << 20
	// replyTimeout is the patience beyond what a call may take by itself: proxies, slow links, busy servers.
	replyTimeout = 30 * time.Second
)

// codeRevoked is the server's word for a secret that it does not know.
const codeRevoked = "agent_unknown"

// ErrRevoked means that the server no longer accepts this agent's secret.
var ErrRevoked = errors.New("the server no longer accepts this agent's secret; enrol the agent again with `downlink-agent join`")

// VersionError means that the server speaks another version of the protocol.
type VersionError struct{ Server int }

func (e *VersionError) Error() string {
	older := "upgrade the server"
	if e.Server > protocol.Version {
		older = "upgrade this agent"
	}
	return fmt.Sprintf("the server speaks version %d of the agent protocol and this agent version %d: "+
		"%s, or install the downlink-agent of the server's release", e.Server, protocol.Version, older)
}

// StatusError is an answer other than success.
type StatusError struct {
	Status     int
	Problem    protocol.Problem
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	if e.IsOurs() {
		return fmt.Sprintf("the server answered %d %s: %s", e.Status, e.Problem.Code, e.Problem.Message)
	}
	return fmt.Sprintf("the answer was %d %s, which is not this server's own: something on the way, such as a proxy, gave it",
		e.Status, http.StatusText(e.Status))
}

// IsOurs tells whether the server itself said so, rather than something on the way.
func (e *StatusError) IsOurs() bool { return e.Problem.Code != "" && e.Problem.Message != "" }

// IsFinal tells whether repeating the call could not help.
func (e *StatusError) IsFinal() bool {
	return e.IsOurs() && e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}

// IsRefusal tells whether an error is an answer to this very call, rather than of somebody who is busy or away.
func IsRefusal(err error) bool {
	status, isAnswer := errors.AsType[*StatusError](err)
	if !isAnswer {
		return false
	}
	switch status.Status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return false
	}
	return true
}

// Client speaks the agent protocol with one server.
type Client struct {
	// Instance says which start of the agent speaks; empty: it is not said.
	Instance string

	base   string
	secret string
	http   *http.Client
	Clock  *Clock
	// Pace is that of chunks; other calls are short.
	Pace *Pace
}

// ProxyFor is the HTTP proxy that the environment names for a server (HTTPS_PROXY, HTTP_PROXY, NO_PROXY); empty for none.
func ProxyFor(server string) string {
	request, err := http.NewRequest(http.MethodGet, server, http.NoBody) //nolint:noctx // it is sent nowhere
	if err != nil {
		return ""
	}
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.String()
}

// NewClient takes http://, https:// and unix:// addresses; the last is a path to a socket. caFile and proxy may be empty: then the
// environment may name a proxy.
func NewClient(server, secret, caFile, proxy string) (*Client, error) {
	address, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("read server address: %w", err)
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: UploadsInFlight + 2, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: replyTimeout,
	}
	if proxy != "" {
		address, err := url.Parse(proxy)
		if err != nil || address.Host == "" {
			return nil, fmt.Errorf("proxy %q is no address; write it as http://HOST:PORT", proxy)
		}
		transport.Proxy = http.ProxyURL(address)
	}
	client := &Client{secret: secret, http: &http.Client{Transport: transport, CheckRedirect: refuseRedirect}, Clock: &Clock{},
		Pace: NewPace(0)}
	switch address.Scheme {
	case "unix":
		client.base = "http://downlink"
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address.Path)
		}
	case "http", "https":
		client.base = strings.TrimSuffix(server, "/")
		transport.TLSClientConfig, err = tlsConfig(caFile)
	default:
		err = fmt.Errorf("server address %q must begin with https://, http:// or unix://", server)
	}
	return client, err
}

// refuseRedirect keeps the secret from being carried to another place.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func tlsConfig(caFile string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s holds no certificate in PEM form", caFile)
	}
	return config, nil
}

// Join trades an enrolment token for an identity.
func (c *Client) Join(ctx context.Context, request protocol.JoinRequest) (protocol.JoinResponse, error) {
	var response protocol.JoinResponse
	err := c.postJSON(ctx, "/api/v1/agent/join", request, &response, replyTimeout)
	if err == nil && response.Secret == "" {
		err = &StatusError{Status: http.StatusOK}
	}
	return response, err
}

// Poll says what this agent is doing and returns what it should do next.
func (c *Client) Poll(ctx context.Context, request protocol.PollRequest) (protocol.PollResponse, error) {
	var response protocol.PollResponse
	patience := replyTimeout + time.Duration(request.WaitS*float64(time.Second))
	sent := time.Now()
	err := c.postJSON(ctx, "/api/v1/agent/poll", request, &response, patience)
	if err == nil && response.ServerNow.IsZero() {
		err = &StatusError{Status: http.StatusOK}
	}
	if err == nil && response.Protocol != protocol.Version {
		err = &VersionError{Server: max(response.Protocol, 1)}
	}
	switch {
	case err != nil:
	case request.WaitS == 0:
		c.Clock.Note(sent, time.Now(), response.ServerNow.Time)
	default: // of an answer that was held nobody knows how long it was on its way
		c.Clock.Check(sent, time.Now(), response.ServerNow.Time)
	}
	return response, err
}

// PostEvent delivers one encoded event.
func (c *Client) PostEvent(ctx context.Context, runID string, body []byte) error {
	path := "/api/v1/agent/runs/" + url.PathEscape(runID) + "/events"
	return c.call(ctx, http.MethodPost, path, body, nil, nil, replyTimeout)
}

// PostObservations delivers what dish and modem said. The reply says what of it the server never takes.
func (c *Client) PostObservations(ctx context.Context, request protocol.ObservationsRequest) (protocol.ObservationsReply, error) {
	var reply protocol.ObservationsReply
	err := c.postJSON(ctx, "/api/v1/agent/observations", request, &reply, replyTimeout)
	if err == nil && reply.Stored == nil {
		err = &StatusError{Status: http.StatusOK}
	}
	return reply, err
}

// HoldsObservations asks whether what was observed should wait, since a run holds a link that it would cross. A server of before does
// not say.
func (c *Client) HoldsObservations(ctx context.Context) (bool, error) {
	var reply protocol.ObservationsHold
	err := c.call(ctx, http.MethodGet, "/api/v1/agent/observations", nil, nil, &reply, replyTimeout)
	return reply.Hold, err
}

// Hush closes the connections that are not in use: even an idle one sends probes.
func (c *Client) Hush() { c.http.CloseIdleConnections() }

func (c *Client) postJSON(ctx context.Context, path string, request, response any, patience time.Duration) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	return c.call(ctx, http.MethodPost, path, body, nil, response, patience)
}

func (c *Client) call(
	ctx context.Context, method, path string, body []byte, headers map[string]string, response any, patience time.Duration,
) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	return c.send(request, headers, response)
}

// upload is call with a body that leaves at the pace of uploads.
func (c *Client) upload(ctx context.Context, method, path string, body []byte, headers map[string]string, response any) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience(len(body)))
	defer cancel()
	paced := func() (io.ReadCloser, error) {
		return io.NopCloser(&pacedReader{ctx: ctx, pace: c.Pace, body: bytes.NewReader(body)}), nil
	}
	first, _ := paced()
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, first)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	request.ContentLength, request.GetBody = int64(len(body)), paced
	c.Pace.Begin(time.Now())
	err = c.send(request, headers, response)
	c.Pace.End(len(body), err == nil, time.Now())
	return err
}

func (c *Client) send(request *http.Request, headers map[string]string, response any) error {
	request.Header.Set("Content-Type", "application/json")
	if c.secret != "" {
		request.Header.Set("Authorization", "Bearer "+c.secret)
	}
	if c.Instance != "" {
		request.Header.Set("X-Agent-Instance", c.Instance)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return unreached(err)
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(reply.Body, replyLimit))
	if err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return readReply(reply, content, response)
}

// unreached says what to do where the server's certificate is of an authority that this host does not know.
func unreached(err error) error {
	if _, isUnknown := errors.AsType[x509.UnknownAuthorityError](err); isUnknown {
		return fmt.Errorf("reach the server: %w; if an authority of your own has signed its certificate, name that authority's file: "+
			"`join --ca-file FILE`, or ca_file in agent.yaml", err)
	}
	return fmt.Errorf("reach the server: %w", err)
}

// readReply takes nothing for success but the server's own answer: the chunk or event behind it is forgotten then.
func readReply(reply *http.Response, content []byte, response any) error {
	status := &StatusError{Status: reply.StatusCode, RetryAfter: retryAfter(reply.Header)}
	if reply.StatusCode < 200 || reply.StatusCode > 299 {
		_ = json.Unmarshal(content, &status.Problem) // a proxy's answer has no problem in it
		if reply.StatusCode == http.StatusUnauthorized && status.Problem.Code == codeRevoked {
			return ErrRevoked
		}
		return status
	}
	if response == nil {
		if reply.StatusCode != http.StatusNoContent {
			return status
		}
		return nil
	}
	if json.Unmarshal(content, response) != nil {
		return status
	}
	return nil
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	const longest = 10 * time.Minute
	return time.Duration(min(seconds, int(longest/time.Second))) * time.Second
}
