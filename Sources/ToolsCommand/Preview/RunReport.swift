import ArgumentParser
import Attache
import AttacheInspection

/// The report of a run, by line.
struct RunReport {
  struct Entry {
    var outcome: String
    var reason: String?
    var dialect: String?
    /// Milliseconds until it took its place, and from then until it was decided.
    var placeWait: Double?
    var elapsed: Double?
    var media: [PreviewItem.Tried]
    /// Of a rehearsal.
    var scenario: String?
    var expected: String?
    var deviations: [String] = []
  }

  private(set) var entries: [Int: Entry] = [:]

  init(contentsOf file: String) throws {
    let parser = JSONParser()
    try PreviewRun.eachPayload(of: file) { payload in
      guard let object = parser.parse(copying: payload.bytes), let line = object.member("line")?.integer,
        let outcome = object.member("outcome")?.text?.string
      else {
        throw PreviewFailure.data(
          file, "line \(payload.line): this is no line of a report; give the file that --report of the filter wrote")
      }
      var media: [PreviewItem.Tried] = []
      object.member("media")?.forEachElement { media.append(PreviewItem.Tried($0)) }
      var entry = Entry(
        outcome: outcome, reason: object.member("reason")?.text?.string, dialect: object.member("dialect")?.text?.string,
        placeWait: object.member("place_wait_ms")?.number, elapsed: object.member("elapsed_ms")?.number, media: media)
      (entry.scenario, entry.expected) = (object.member("scenario")?.text?.string, object.member("expected")?.text?.string)
      object.member("deviations")?.forEachElement { if let text = $0.text?.string { entry.deviations.append(text) } }
      entries[line] = entry
    }
  }
}

extension PreviewItem.Tried {
  fileprivate init(_ media: JSONElement) {
    url = media.member("url")?.text?.string ?? ""
    (reason, explanation) = (media.member("reason")?.text?.string, media.member("explanation")?.text?.string)
    (status, bytes, type) = (media.member("status")?.integer, media.member("bytes")?.integer, media.member("type")?.text?.string)
    total = media.member("total_ms")?.number
  }
}
