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
	Join     joinCmd     `cmd:"" help:"Enrol this host with a server and write the configuration."`
	Run      runCmd      `cmd:"" help:"Carry out the server's orders until stopped."`
	Restore  restoreCmd  `cmd:"" help:"Restore the host settings that an interrupted run changed."`
	Pause    pauseCmd    `cmd:"" help:"Refuse runs for a while."`
	Resume   resumeCmd   `cmd:"" help:"End a pause."`
	Doctor   doctorCmd   `cmd:"" help:"Check whether this host meets its configuration."`
	Spool    spoolCmd    `cmd:"" help:"List, return or delete samples that the server has not requested."`
	Link     linkCmd     `cmd:"" help:"Build, remove, list and show emulated links."`
	Profiles profilesCmd `cmd:"" help:"List, check, show and run link profiles. Convert recordings of links."`
	Controls controlsCmd `cmd:"" help:"List the agent's own congestion controls, or load them for other programs."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Verbose bool `help:"Log debug messages." short:"v"`
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
		kong.Description("Carries out measurement runs on this host as ordered by a Downlink server. Only makes outgoing connections to it."),
	}
}

func newLogger(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
