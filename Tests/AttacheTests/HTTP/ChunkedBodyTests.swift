import Testing

@testable import Attache

@Suite struct ChunkedBodyTests {
  private struct Read: Equatable {
    var body = ""
    var isComplete = false
    var hasSurplus = false
    var mistake: ChunkedBody.Mistake?
  }

  /// Reads a text in pieces of this many bytes.
  private func read(_ text: String, pieces size: Int = .max) -> Read {
    var (chunks, head, result) = (ChunkedBody(), ResponseHead(), Read())
    var rest = Array(text.utf8)[...]
    do throws(ChunkedBody.Mistake) {
      while !rest.isEmpty {
        result.body += String(decoding: try chunks.read(rest.prefix(size), of: &head), as: UTF8.self)
        rest = rest.dropFirst(size)
      }
    } catch {
      result.mistake = error
    }
    (result.isComplete, result.hasSurplus) = (chunks.isComplete, chunks.hasSurplus)
    return result
  }

  @Test(arguments: [1, 2, 3, 7, 1_000])
  func `chunks are joined, however they come`(size: Int) {
    let text = "4\r\nWiki\r\n7;a=b\r\npedia i\r\nB  \r\nn \r\nchunks.\r\n0;end\r\nX: y\r\n\r\n"
    #expect(read(text, pieces: size) == Read(body: "Wikipedia in \r\nchunks.", isComplete: true))
  }

  @Test func `what follows the end is no body, and is noticed`() {
    #expect(read("1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n") == Read(body: "a", isComplete: true, hasSurplus: true))
    #expect(read("1\r\na\r\n0\r\n") == Read(body: "a"))
  }

  @Test(arguments: [
    "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 x\r\n", "1\n", "1\r\r\n", "1\rX\r\n", "FFFFFFFFFFFFFFFFFF\r\n",
    "8000000000000000\r\n", "7FFFFFFFFFFFFFFF\r\n", "4000000000000000\r\n", "3FFFFFFFFFFFFFFF\r\n", "1000000000001\r\n",
    "1\r\nab\r\n", "1\r\na\n", "1\r\na\r\r\n",
  ])
  func `what libcurl might take for a chunk is none`(text: String) {
    #expect(read(text).mistake == .framing)
  }

  @Test func `a chunk may be larger than any file that is taken`() {
    #expect(read("1000000000000\r\nGIF89a") == Read(body: "GIF89a"))
    #expect(read("0000000000000000000000001\r\na\r\n0\r\n\r\n") == Read(body: "a", isComplete: true))
  }

  @Test func `a line of a size is bounded, and so are all of them together`() {
    let extended = { (length: Int) in "1;" + String(repeating: "x", count: length) + "\r\na\r\n" }
    #expect(read(extended(3_900)).mistake == nil)
    #expect(read(extended(4_100)).mistake == .framing)
    #expect(read(String(repeating: extended(3_000), count: 5)).mistake == nil)
    #expect(read(String(repeating: extended(3_000), count: 6)).mistake == .framing)
    #expect(read(String(repeating: "1\r\na\r\n", count: 100_000)).mistake == nil)
  }

  @Test func `trailers are bounded as header lines are`() {
    let end = "0\r\n"
    #expect(read(end + String(repeating: "X: y\r\n", count: 200) + "\r\n") == Read(isComplete: true))
    #expect(read(end + String(repeating: "X: y\r\n", count: 300)).mistake == .trailers)
    #expect(read(end + "X: " + String(repeating: "y", count: 5_000)).mistake == .trailers)
  }
}
