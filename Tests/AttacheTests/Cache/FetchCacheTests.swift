import AttacheTesting
import Testing

@testable import Attache

/// The HTTP cache across restarts: each fetch is a separate run.
@Suite(.timeLimit(.minutes(1))) struct FetchCacheTests {
  private static func control(_ value: String) -> Fault { .header(name: "Cache-Control", value: value) }

  @Test func `what is fresh is not fetched by the next run`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [Self.control("max-age=100")])
      let first = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(90))
      let second = try await stage.fetch("/a")
      #expect(first.record.cache == .miss && second.record.cache == .hit)
      #expect(second.file == first.file)
      #expect(second.record.attempts == 0 && second.record.bytes == Sample.png.count && second.record.type == .png)
      stage.time.turn(by: .seconds(11))
      #expect(try await stage.fetch("/a").record.cache == .miss)
      #expect(stage.origin.requestCount() == 2)
    }
  }

  @Test(arguments: ["\"v1\"", "W/\"v1\""])
  func `what is stale is asked about by its entity tag, and fresh again after a 304`(tag: String) async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag(tag), Self.control("max-age=100")])
      let first = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(101))
      let second = try await stage.fetch("/a")
      #expect(second.file == first.file)
      #expect(second.record.cache == .revalidated && second.record.status == 304 && second.record.bytes == Sample.png.count)
      stage.time.turn(by: .seconds(90))
      #expect(try await stage.fetch("/a").record.cache == .hit)
      #expect(stage.asked("If-None-Match") == [nil, tag])
      #expect(stage.asked("If-Modified-Since") == [nil, nil])
    }
  }

  @Test func `without an entity tag it is asked about by its date`() async throws {
    try await withCacheStage { stage in
      let date = "Sun, 06 Nov 1994 08:49:37 GMT"
      stage.origin.serve(
        "/a", Sample.png, faults: [.header(name: "Last-Modified", value: date), Self.control("max-age=1"), .after(1, .status(304))])
      let first = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      let second = try await stage.fetch("/a")
      #expect(second.file == first.file && second.record.cache == .revalidated)
      #expect(stage.asked("If-Modified-Since") == [nil, date])
    }
  }

  @Test(arguments: [String(repeating: "v", count: 255), "no quotes", "a\u{7F}b"])
  func `a tag that is none is not sent back`(tag: String) async throws {
    try await withCacheStage { stage in
      let text = tag.hasPrefix("no") ? tag : "\"\(tag)\""
      stage.origin.serve("/a", Sample.png, faults: [.header(name: "ETag", value: text), Self.control("max-age=1")])
      _ = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      #expect(try await stage.fetch("/a").record.cache == .miss)
      #expect(stage.asked("If-None-Match") == [nil, nil])
    }
  }

  @Test func `a 200 takes the place of what was stale`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control("max-age=1")])
      _ = try await stage.fetch("/a")
      stage.origin.serve("/a", Sample.mp3, faults: [.etag("\"v2\""), Self.control("max-age=1")])
      stage.time.turn(by: .seconds(2))
      let second = try await stage.fetch("/a")
      #expect(second.file?.type == .mp3 && second.record.cache == .miss && second.record.status == 200)
      stage.time.turn(by: .seconds(2))
      #expect(try await stage.fetch("/a").record.cache == .revalidated)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", "\"v2\""])
    }
  }

  @Test func `an error is an error, never the stale file`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control("max-age=1")])
      _ = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      stage.origin.serve("/a", Sample.png, faults: [.status(404)])
      #expect(try await stage.fetch("/a").reason == .httpStatus)
      stage.origin.serve("/a", Sample.png, faults: [.resetBeforeHeaders])
      let ended1 = try await stage.fetch("/a") { $0.retries = 0 }
      #expect(ended1.reason == .connectReset)
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\"")])
      #expect(try await stage.fetch("/a").record.cache == .revalidated)
    }
  }

  @Test(arguments: ["no-store", "private", "max-age=0", "no-cache"])
  func `what may not be kept is fetched each time, in one run too`(value: String) async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [Self.control(value)])
      try await stage.run { run in
        for _ in 0..<2 { #expect(await run.fetch("/a").record.cache == .miss) }
      }
      #expect(try await stage.fetch("/a").record.cache == .miss)
      #expect(stage.origin.requestCount() == 3)
    }
  }

  @Test func `what varies by anything is not kept, what varies by something is`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.header(name: "Vary", value: "*")])
      stage.origin.serve("/b", Sample.png, faults: [.header(name: "Vary", value: "Accept, Origin")])
      for _ in 0..<2 {
        #expect(try await stage.fetch("/a").record.cache == .miss)
        _ = try await stage.fetch("/b")
      }
      #expect(stage.origin.requestCount(path: "/b") == 1)
    }
  }

  @Test(arguments: ["no-cache", "max-age=0"])
  func `what is to be asked about each time is, in one run too`(value: String) async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control(value)])
      try await stage.run { run in
        var caches: [MediaRecord.Cache] = []
        for _ in 0..<3 { caches.append(await run.fetch("/a").record.cache) }
        #expect(caches == [.miss, .revalidated, .revalidated])
      }
      #expect(try await stage.fetch("/a").record.cache == .revalidated)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", "\"v1\"", "\"v1\""])
    }
  }

  @Test func `a 304 that forbids keeping ends it`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve(
        "/a", Sample.png, faults: [.etag("\"v1\""), .once(Self.control("max-age=1")), .after(1, Self.control("no-store"))])
      let first = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      #expect(try await stage.fetch("/a").file?.sha256 == first.file?.sha256)
      #expect(try await stage.fetch("/a").record.cache == .miss)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", nil])
    }
  }

  @Test func `a file that has gone, or is not whole, is fetched again`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png)
      let file = try #require(try await stage.fetch("/a").file)
      stage.folder.remove(file.relativePath)
      #expect(try await stage.fetch("/a").record.cache == .miss)
      stage.folder.write([1, 2, 3], to: file.relativePath)
      #expect(try await stage.fetch("/a").record.cache == .miss)
      #expect(stage.folder.bytes(file.relativePath) == Sample.png)
      #expect(try await stage.fetch("/a").record.cache == .hit)
    }
  }

  @Test func `a 304 whose file has gone is followed by a request without a condition`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control("max-age=1")])
      let file = try #require(try await stage.fetch("/a").file)
      stage.time.turn(by: .seconds(2))
      stage.folder.remove(file.relativePath)
      let second = try await stage.fetch("/a") { $0.retries = 0 }
      #expect(second.file == file && second.record.cache == .miss && second.record.status == 200)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", nil])
    }
  }

  @Test func `a 304 of another file, or unasked, is no answer`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control("max-age=1")])
      _ = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      stage.origin.serve("/a", Sample.png, faults: [.status(304), .header(name: "ETag", value: "\"v2\"")])
      #expect(try await stage.fetch("/a").reason == .httpStatus)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", nil])
    }
  }

  @Test func `a body that breaks off behind a condition is taken up by its range alone`() async throws {
    try await withCacheStage { stage in
      let body = Sample.padded(Sample.png, to: 10_000)
      stage.origin.serve("/a", Sample.png, faults: [.etag("\"v1\""), Self.control("max-age=1")])
      _ = try await stage.fetch("/a")
      stage.time.turn(by: .seconds(2))
      stage.origin.serve("/a", body, faults: [.etag("\"v2\""), .once(.closeEarly(afterBytes: 6_000))])
      #expect(try await stage.fetch("/a").file?.size == 10_000)
      #expect(stage.asked("If-None-Match") == [nil, "\"v1\"", nil])
      #expect(stage.asked("If-Range") == [nil, nil, "\"v2\""])
      #expect(try await stage.fetch("/a").record.cache == .hit)
    }
  }

  @Test func `a redirect is followed again by the next run, and ends at what is fresh`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/start", [], faults: [.redirect(to: "/a", status: 301), Self.control("max-age=50")])
      stage.origin.serve("/a", Sample.png, faults: [Self.control("max-age=100")])
      try await stage.run { run in
        for _ in 0..<3 { #expect(await run.fetch("/start").file != nil) }
      }
      let next = try await stage.fetch("/start")
      #expect(next.record.cache == .hit && next.record.attempts == 1 && next.record.status == 301)
      #expect(stage.origin.requestCount(path: "/start") == 2)
      #expect(stage.origin.requestCount(path: "/a") == 1)
    }
  }

  @Test func `a redirect that may not be kept is asked for each time`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/start", [], faults: [.redirect(to: "/a"), Self.control("no-store")])
      stage.origin.serve("/a", Sample.png)
      try await stage.run { run in
        for _ in 0..<3 { #expect(await run.fetch("/start").file != nil) }
      }
      #expect(stage.origin.requestCount(path: "/start") == 3)
      #expect(stage.origin.requestCount(path: "/a") == 1)
    }
  }

  @Test func `the other modes leave the index alone`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png)
      for mode in [FetchConfiguration.CacheMode.session, .off, .session] {
        let ended2 = try await stage.fetch("/a") { $0.cache = mode }
        #expect(ended2.record.cache == .miss)
      }
      #expect(stage.folder.files.allSatisfy { !$0.contains("index") })
    }
  }
}
