@testable import AttacheTesting
import Testing

/// Paths that name faults, and the folder that they serve.
struct FaultPathTests {
  @Test func `every row reads its own example`() throws {
    for row in FaultPath.table {
      let example = row.example.replacing("FAULT", with: "gzip")
      let (faults, rest) = try FaultPath.parse(example + "/a/photo.jpg")
      #expect(faults.count == 1 && rest == "/a/photo.jpg", "\(example)")
      #expect(FaultPath.help.contains(row.example) && FaultPath.help.contains(row.meaning))
    }
  }

  @Test func `the names mean their faults`() throws {
    let expected: [(String, [Fault])] = [
      ("/delay/250ms/x", [.delay(.milliseconds(250))]), ("/delay/2s/x", [.delay(.seconds(2))]), ("/delay/1m/x", [.delay(.seconds(60))]),
      ("/length/+10/x", [.contentLength(tooLongBy: 10)]), ("/length/-10/x", [.contentLength(tooShortBy: 10)]),
      ("/type/text%2Fhtml/x", [.contentType("text/html")]), ("/etag/v1/x", [.etag("\"v1\"")]),
      ("/status/503/x", [.status(503)]), ("/status/503,1/x", [.status(503, retryAfter: 1)]),
      ("/delay/1s/status/503/x", [.delay(.seconds(1)), .status(503)]),
      ("/times/2/reset/512/gzip/x", [.times(2, .reset(afterBytes: 512)), .gzip]),
    ]
    for (path, faults) in expected {
      let parsed = try FaultPath.parse(path)
      #expect(parsed.faults == faults && parsed.rest == "/x", "\(path)")
    }
  }

  @Test func `a path without faults is left alone`() throws {
    let (faults, rest) = try FaultPath.parse("/a//gzip/")
    #expect(faults.isEmpty && rest == "/a//gzip/")
  }

  @Test func `faults that wrap each other without end are a mistake`() {
    let path = String(repeating: "/times/1", count: 10_000) + "/gzip/x"
    #expect { try FaultPath.parse(path) } throws: { "\($0)".contains("at most 16 of times and after") }
  }

  @Test(arguments: [
    "/delay/soon/x", "/delay/5/x", "/drip/-1/x", "/reset", "/status/99/x", "/times/2/photo.jpg", "/type/%zz/x",
    "/length/9223372036854775807/x",
    "/length/-9223372036854775808/x", "/drip/9223372036854775807/x", "/headers/100001/x",
  ])
  func `a wrong value is a mistake that shows how it is written`(_ path: String) {
    #expect { try FaultPath.parse(path) } throws: { "\($0)".contains("is written as in /") }
  }
}
