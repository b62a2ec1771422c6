package intcpsocket_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"
)

const quicProtocol = "bench"

// benchQUIC carries one stream over loopback, with the windows that quic-go comes with.
func benchQUIC(b *testing.B) float64 {
	b.Helper()
	certificate, trusted := ownCertificate(b)
	listener, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate},
		NextProtos: []string{quicProtocol}, MinVersion: tls.VersionTLS13}, nil)
	require.NoError(b, err)
	defer func() { _ = listener.Close() }()
	came := make(chan int64, 1)
	go func() {
		var read int64
		defer func() { came <- read }()
		connection, err := listener.Accept(b.Context())
		if err != nil {
			return
		}
		stream, err := connection.AcceptUniStream(b.Context())
		if err != nil {
			return
		}
		read, _ = io.Copy(io.Discard, stream)
	}()
	connection, err := quic.DialAddr(b.Context(), listener.Addr().String(),
		&tls.Config{RootCAs: trusted, ServerName: quicProtocol, NextProtos: []string{quicProtocol}, MinVersion: tls.VersionTLS13}, nil)
	require.NoError(b, err)
	stream, err := connection.OpenUniStreamSync(b.Context())
	require.NoError(b, err)
	before, until := processTime(), time.Now().Add(benchTime)
	buffer := make([]byte, 128<<10)
	for time.Now().Before(until) {
		_, err := stream.Write(buffer)
		require.NoError(b, err)
	}
	require.NoError(b, stream.Close())
	read := <-came
	used := processTime() - before
	require.NoError(b, connection.CloseWithError(0, ""))
	require.Positive(b, read)
	return perCore(read, used)
}

// ownCertificate is for this process alone.
func ownCertificate(b *testing.B) (tls.Certificate, *x509.CertPool) {
	b.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(b, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{quicProtocol}, NotAfter: time.Now().Add(time.Hour)}
	text, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(b, err)
	parsed, err := x509.ParseCertificate(text)
	require.NoError(b, err)
	trusted := x509.NewCertPool()
	trusted.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: private}, trusted
}
