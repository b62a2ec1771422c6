package emulate

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// How a profile is read from its file.

//go:embed profiles/*.yaml
var embedded embed.FS

// ProfileNames lists the profiles that come with the program.
func ProfileNames() []string {
	entries, _ := embedded.ReadDir("profiles") // the folder is part of the program
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// LoadProfile reads a profile that comes with the program, by name, or the user's own file, by a path with a slash or a
// .yaml ending, or a path trace by its .dlpath ending.
func LoadProfile(nameOrPath string) (Profile, error) {
	if strings.HasSuffix(nameOrPath, pathEnding) {
		return loadPath(nameOrPath)
	}
	if strings.ContainsRune(nameOrPath, '/') || strings.HasSuffix(nameOrPath, ".yaml") {
		text, err := os.ReadFile(nameOrPath)
		if err != nil {
			return Profile{}, fmt.Errorf("read link profile: %w", err)
		}
		return parseProfile(nameOrPath, text, os.DirFS(filepath.Dir(nameOrPath)))
	}
	text, err := embedded.ReadFile(path.Join("profiles", nameOrPath+".yaml"))
	if err != nil {
		return Profile{}, fmt.Errorf("no link profile is called %q: use one of %s, or the path of a .yaml file",
			nameOrPath, strings.Join(ProfileNames(), ", "))
	}
	folder, _ := fs.Sub(embedded, "profiles") // the folder is part of the program
	return parseProfile(nameOrPath, text, folder)
}

// parseProfile makes a profile of a file's text. Traces are files of the folder.
func parseProfile(file string, text []byte, folder fs.FS) (Profile, error) {
	profile, err := decodeProfile(text)
	if err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	if err := profile.load(folder); err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	profile = profile.withFacts()
	if profile.Pep != nil {
		profile.Pep = profile.Pep.withDefaults()
	}
	if err := profile.validate(); err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	return profile, nil
}

// decodeProfile decodes strictly: an unknown key is an error, named with its line. Keys that the text leaves out are those of
// the built-in profile that it extends, except name, description and facts.
func decodeProfile(text []byte) (profile Profile, err error) {
	var head struct {
		Extends string `yaml:"extends"`
	}
	if yaml.Unmarshal(text, &head) == nil && head.Extends != "" {
		base, err := embedded.ReadFile(path.Join("profiles", head.Extends+".yaml"))
		if err != nil {
			return Profile{}, fmt.Errorf("extends must be one of %s, not %q", strings.Join(ProfileNames(), ", "), head.Extends)
		}
		if profile, err = decodeProfile(base); err != nil {
			return Profile{}, fmt.Errorf("extends %s: %w", head.Extends, err)
		}
		profile.Name, profile.Description, profile.Facts = "", "", Facts{}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err = decoder.Decode(&profile); errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	return profile, err
}

// load reads the traces of a profile, whose kind must be clear before.
func (profile *Profile) load(folder fs.FS) error {
	if err := profile.checkKind(); err != nil {
		return err
	}
	if len(profile.Hops) == 0 {
		whole := Hop{profile.Down, profile.Up, profile.Path}
		if err := whole.load(folder); err != nil {
			return err
		}
		profile.Down, profile.Up = whole.Down, whole.Up
	}
	for i := range profile.Hops {
		if err := profile.Hops[i].load(folder); err != nil {
			return fmt.Errorf("hops[%d]: %w", i, err)
		}
	}
	for i := range profile.Receivers {
		b := &profile.Receivers[i]
		if err := errors.Join(b.Down.load(folder), b.Up.load(folder)); err != nil {
			return fmt.Errorf("receivers[%d]: %w", i, err)
		}
	}
	return nil
}

// load reads the way's trace, if it has one.
func (d *Direction) load(folder fs.FS) error {
	if d.Trace == "" {
		return nil
	}
	file, err := folder.Open(d.Trace)
	if err != nil {
		return fmt.Errorf("open the trace, a file in the profile's folder or below: %w", err)
	}
	defer func() { _ = file.Close() }()
	if d.recorded, err = ReadTrace(file); err != nil {
		return fmt.Errorf("trace %s: %w", d.Trace, err)
	}
	return nil
}

// open finds the path trace.
func (p *Path) open(folder fs.FS) (io.ReadCloser, error) {
	switch {
	case filepath.IsAbs(p.File):
		return os.Open(p.File)
	case filepath.Ext(p.File) == pathEnding:
		file, err := folder.Open(p.File)
		if err != nil {
			return nil, fmt.Errorf("open the path trace %s, a file in the profile's folder or below, or an absolute path; "+
				"`downlink paths make NAME --to FILE` makes one: %w", p.File, err)
		}
		return file, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the path trace %s: %w", p.File, err)
	}
	file, err := os.Open(filepath.Join(cache, "downlink", "paths", filepath.Base(p.File)+pathEnding))
	if err != nil {
		return nil, fmt.Errorf("open the path trace %s; `downlink paths make %s` makes it: %w", p.File, p.File, err)
	}
	return file, nil
}
