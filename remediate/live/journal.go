package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/remediate"
)

// A JournalFile is the journal of one plan. As long as it is open no other
// process has it open.
type JournalFile struct {
	*os.File
	Records []remediate.Record // that were there before
}

// OpenJournal opens or makes the journal of a plan in a folder.
func OpenJournal(dir, plan string) (*JournalFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	path := filepath.Join(dir, plan+".jsonl")
	_, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &JournalFile{File: f}
	if err := j.load(plan); err != nil {
		f.Close()
		return nil, err
	}
	if isNew {
		if err := syncDir(dir); err != nil {
			f.Close()
			return nil, fmt.Errorf("open journal: %w", err)
		}
	}
	return j, nil
}

// PeekJournal reads the journal of a plan, if there is one, and changes nothing.
func PeekJournal(dir, plan string) (rs []remediate.Record, name string, err error) {
	name = filepath.Join(dir, plan+".jsonl")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, name, nil
	}
	if err != nil {
		return nil, name, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close()
	if rs, _, err = remediate.ReadJournal(f, plan); err != nil {
		return nil, name, fmt.Errorf("%s: %w", name, err)
	}
	return rs, name, nil
}

// load reads what is there, and cuts off a line that was not written to its end.
func (j *JournalFile) load(plan string) error {
	if err := lockFile(j.File); err != nil {
		return fmt.Errorf("open journal %s: another ktriage has it: %w", j.Name(), err)
	}
	rs, whole, err := remediate.ReadJournal(j.File, plan)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Name(), err)
	}
	if err := j.Truncate(whole); err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if _, err := j.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	j.Records = rs
	return nil
}
