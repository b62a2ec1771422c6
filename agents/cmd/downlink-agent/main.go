// Command downlink-agent carries out measurement runs on one host, as ordered by a Downlink server.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set when the binary is built.
var version = "dev"

type cli struct {
	Join     joinCmd     `cmd:"" help:"Enrol this host with a server and write its configuration."`
	Run      runCmd      `cmd:"" help:"Serve the server's orders until stopped."`
	Restore  restoreCmd  `cmd:"" help:"Put back the host settings that an interrupted run left changed."`
	Pause    pauseCmd    `cmd:"" help:"Take no run for a while, whatever the server orders."`
	Resume   resumeCmd   `cmd:"" help:"End a pause."`
	Doctor   doctorCmd   `cmd:"" help:"Check whether this host can do what its configuration says."`
	Spool    spoolCmd    `cmd:"" help:"List, return or drop samples that the server does not ask for."`
	Link     linkCmd     `cmd:"" help:"Build, remove, list and show emulated links."`
	Profiles profilesCmd `cmd:"" help:"List, check and show link profiles, and convert recorded courses of links."`
	Controls controlsCmd `cmd:"" help:"List the agent's own congestion controls, or load them for other programs."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Verbose bool `help:"Log more." short:"v"`
}

type versionCmd struct{}

func (versionCmd) Run() error {
	fmt.Println("downlink-agent", version)
	return nil
}

func main() {
	var commands cli
	parsed := kong.Parse(&commands, options()...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(newLogger(commands.Verbose))
	parsed.FatalIfErrorf(parsed.Run())
}

func options() []kong.Option {
	return []kong.Option{
		kong.Name("downlink-agent"), kong.UsageOnError(),
		kong.Description("Carries out TCP measurement runs on this host, as ordered by a Downlink server. It only dials out."),
	}
}

func newLogger(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
