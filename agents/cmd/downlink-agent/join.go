package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/uplink"
)

type joinCmd struct {
	Server         string   `help:"Server address: https://, http://, or unix:// with the path of a socket." required:""`
	Token          string   `help:"Enrolment token from the dashboard. It works once." env:"DOWNLINK_ENROLMENT_TOKEN" xor:"token"`
	TokenFile      string   `help:"File with the token, or - for standard input. Hides the token from other users and the shell history." xor:"token" placeholder:"FILE"`
	Name           string   `help:"Name of this agent in the dashboard." required:""`
	Role           []string `help:"Role that this host may have in a run. May be repeated." enum:"sender,receiver,relay" default:"sender,receiver"`
	StateDir       string   `help:"State folder." default:"/var/lib/downlink-agent" type:"path"`
	DataHost       string   `help:"Address at which other agents reach this host. Default: the address used towards the server."`
	DataPort       int      `help:"Data port of a sender. 0: the kernel chooses one for each run."`
	SeparateUplink bool     `help:"Declare that control traffic does not cross the link under test."`
	LinkControl    string   `help:"Control socket of the emulated link on this host's data path (link up --link-control)." type:"path" placeholder:"PATH"`
	RelayControl   string   `help:"Control socket of the emulated link whose relays this agent represents (link up --relay-control)." type:"path" placeholder:"PATH"`
	CaFile         string   `help:"CA certificate (PEM) for a server certificate signed by a private CA." type:"path"`
	Proxy          string   `help:"HTTP proxy to the server, http://HOST:PORT. Stored in agent.yaml. Default: HTTPS_PROXY and NO_PROXY."`
}

func (j joinCmd) config() (config.Config, error) {
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.Roles = j.Server, j.Name, j.StateDir, j.Role
	c.DataHost, c.DataPort, c.SeparateUplink, c.CAFile = j.DataHost, j.DataPort, j.SeparateUplink, j.CaFile
	c.LinkControl, c.RelayControl = j.LinkControl, j.RelayControl
	c.Proxy = cmp.Or(j.Proxy, uplink.ProxyFor(j.Server))
	if c.DataHost == "" {
		server, err := url.Parse(j.Server)
		if err != nil || server.Host == "" {
			return c, errors.New("give the address at which other agents reach this host with --data-host")
		}
		towards := server.Host
		if proxy, err := url.Parse(c.Proxy); err == nil && proxy.Host != "" {
			towards = proxy.Host // behind it the server's name need not be known
		}
		c.DataHost, err = host.AddressTowards(towards)
		if err != nil {
			return c, fmt.Errorf("%w; give it with --data-host", err)
		}
	}
	return c, c.Validate()
}

// token comes from one of three places.
func (j joinCmd) token(stdin io.Reader) (string, error) {
	if j.TokenFile == "" {
		if j.Token == "" {
			return "", errors.New("give the enrolment token with --token, --token-file or DOWNLINK_ENROLMENT_TOKEN; make one in the dashboard")
		}
		return j.Token, nil
	}
	source := stdin
	if j.TokenFile != "-" {
		file, err := os.Open(j.TokenFile)
		if err != nil {
			return "", fmt.Errorf("read token: %w", err)
		}
		defer func() { _ = file.Close() }()
		source = file
	}
	content, err := io.ReadAll(io.LimitReader(source, tokenLimit))
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// tokenLimit is several times a token's length.
const tokenLimit = 1 << 10

// isReadableOnTheWay tells whether others could read what goes to and fro between this host and the server.
func isReadableOnTheWay(server string) bool {
	address, err := url.Parse(server)
	if err != nil || address.Scheme != "http" || address.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(address.Hostname())
	return ip == nil || !ip.IsLoopback()
}

const plainWarning = "is reached over http://, so that everybody on the way can read this agent's secret and give orders in the server's " +
	"name; use https://"

// Run enrols first and writes then: a token that is refused leaves no configuration behind.
func (j joinCmd) Run(ctx context.Context) error {
	c, err := j.config()
	if err != nil {
		return err
	}
	token, err := j.token(os.Stdin)
	if err != nil {
		return err
	}
	if isReadableOnTheWay(c.Server) {
		fmt.Fprintf(os.Stderr, "Warning: %s %s.\n", c.Server, plainWarning)
	}
	keeper, bootID, err := agent.OpenKeeper(c, settings.LinuxHost{})
	if err != nil {
		return err
	}
	facts, err := agent.HostFacts(c, keeper, bootID)
	if err != nil {
		return err
	}
	client, err := uplink.NewClient(c.Server, "", c.CAFile, c.Proxy)
	if err != nil {
		return err
	}
	response, err := client.Join(ctx, protocol.JoinRequest{Protocol: protocol.Version, Token: token, Name: j.Name, Version: version,
		Host: facts})
	if err != nil {
		return err
	}
	if err := config.SaveIdentity(c.StateDir, config.Identity{AgentID: response.AgentID, Secret: response.Secret}); err != nil {
		return err
	}
	path, err := c.Save()
	if err != nil {
		return err
	}
	fmt.Printf("Joined as %s (%s). Configuration: %s\nStart it with: downlink-agent run --state-dir %s\n",
		j.Name, response.AgentID, path, shellWord(c.StateDir))
	return nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=-]+$`)

// shellWord is a text as it is typed in a shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
