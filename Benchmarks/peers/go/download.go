package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

type attachment struct {
	Path string `json:"path"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

var extensions = map[string]string{"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "audio/mpeg": "mp3", "audio/x-m4a": "m4a",
	"audio/x-wav": "wav", "audio/x-aiff": "aiff", "video/mp4": "mp4", "video/mpeg": "mpg", "video/x-msvideo": "avi"}

// Stores the file of a URL under the number of its line.
func download(origin *http.Client, url, store string, number int, buffer []byte) (*attachment, error) {
	response, err := origin.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, response.Body, 1<<16)
		return nil, errors.New(response.Status)
	}
	part := fmt.Sprintf("%s/%d.part", store, number)
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	head, size, err := copyBody(file, response.Body, buffer)
	file.Close()
	if err == nil && size == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		kind := detect(head)
		extension, known := extensions[kind]
		if !known {
			extension = "bin"
		}
		path := fmt.Sprintf("%s/%d.%s", store, number, extension)
		if err = os.Rename(part, path); err == nil {
			return &attachment{path, kind, size}, nil
		}
	}
	os.Remove(part)
	return nil, err
}

// Copies to the end; gives the first 4 KB and the size.
func copyBody(file *os.File, body io.Reader, buffer []byte) (head []byte, size int64, err error) {
	for {
		count, ended := body.Read(buffer)
		if count > 0 {
			if left := 4096 - len(head); left > 0 {
				if left > count {
					left = count
				}
				head = append(head, buffer[:left]...)
			}
			if _, err = file.Write(buffer[:count]); err != nil {
				return
			}
			size += int64(count)
		}
		if ended == io.EOF {
			return
		}
		if ended != nil {
			return head, size, ended
		}
	}
}
