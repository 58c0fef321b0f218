// The filter as one would write it in Go: the standard library, and libmagic through cgo.
//
//	peer -store DIR [-jobs 64] [-deadline 30s] < payloads > payloads
//
// SSL_CERT_FILE names the root certificates; HTTP/2 comes by ALPN.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"time"
)

// A line and, once it is decided, what leaves for it.
type place struct {
	number int
	line   []byte
	url    string
	out    chan []byte
}

type payload struct {
	Aps struct {
		MutableContent json.RawMessage `json:"mutable-content"`
	} `json:"aps"`
	Image json.RawMessage `json:"image"`
}

// The URL of a payload that asks for an attachment, or nothing.
func mediaURL(line []byte) (url string) {
	var p payload
	if json.Unmarshal(line, &p) != nil || string(p.Aps.MutableContent) != "1" {
		return ""
	}
	_ = json.Unmarshal(p.Image, &url)
	return url
}

// The line with one member more; the others stay as they are, in the order of their names.
func with(a *attachment, line []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return line
	}
	members["attachment"], _ = json.Marshal(a)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(members) != nil {
		return line
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func read(order chan<- *place, work chan<- *place) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for number := 0; ; number++ {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		p := &place{number: number, line: bytes.TrimSuffix(line, []byte("\n")), out: make(chan []byte, 1)}
		p.url = mediaURL(p.line)
		order <- p
		if p.url != "" {
			work <- p
		} else {
			p.out <- p.line
		}
	}
	close(order)
	close(work)
}

func write(order <-chan *place) {
	out := bufio.NewWriterSize(os.Stdout, 1<<18)
	defer out.Flush()
	for p := range order {
		select {
		case line := <-p.out:
			out.Write(line)
		default: // What is decided leaves before it waits.
			out.Flush()
			out.Write(<-p.out)
		}
		out.WriteByte('\n')
		if len(order) == 0 {
			out.Flush()
		}
	}
}

func main() {
	store := flag.String("store", "", "the folder of files")
	jobs := flag.Int("jobs", 64, "transfers at a time")
	deadline := flag.Duration("deadline", 30*time.Second, "of a transfer")
	flag.Parse()
	if *store == "" {
		log.Fatal("-store DIR is needed")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = *jobs, *jobs
	transport.ReadBufferSize = 1 << 16
	origin := &http.Client{Transport: transport, Timeout: *deadline}

	room := 4096
	if 4**jobs > room {
		room = 4 * *jobs
	}
	order, work := make(chan *place, room), make(chan *place)
	for i := 0; i < *jobs; i++ {
		go func() {
			buffer := make([]byte, 1<<16)
			for p := range work {
				out := p.line
				if a, err := download(origin, p.url, *store, p.number, buffer); err == nil {
					out = with(a, p.line)
				}
				p.out <- out
			}
		}()
	}
	go read(order, work)
	write(order)
}
