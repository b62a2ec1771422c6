#!/bin/sh
# Prints the licence texts of what is linked into the agent. Run it in agents/.
set -eu
echo "Downlink itself has no licence yet. The agent's program contains what follows."
licence() {
  printf '\n\n==== %s\n' "$1"
  found=$(find "$2" -maxdepth 1 -type f \( -name 'LICENSE*' -o -name 'COPYING*' -o -name 'NOTICE*' \) | sort)
  [ -n "$found" ] || { echo "$1 has no licence text" >&2; exit 1; }
  # shellcheck disable=SC2086 # one word a file
  cat $found
}
licence "Go $(go env GOVERSION)" "$(go env GOROOT)"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}{{end}}{{end}}' ./cmd/downlink-agent | sort -u |
  while IFS='|' read -r name folder; do
    [ -z "$name" ] || licence "$name" "$folder"
  done
