@testable import Attache

/// A table of dialects and payloads for it.
struct DialectStage {
  private let engine: DialectEngine
  private let parser = JSONParser(capacity: 1 << 20)

  /// - Parameter table: the table, in the format of dialect files if it is the test's own.
  init(_ table: DialectTable) {
    engine = DialectEngine(table)
  }

  init(rows: String, isStrict: Bool = false) throws {
    self.init(DialectTable(rows: try DialectForm(name: "mine.json", bytes: rows.utf8).rows(isWhole: true), isStrict: isStrict))
  }

  /// A dialect with one source.
  init(source: String, when: String = "[]") throws {
    try self.init(rows: #"[{"name":"v","when":\#(when),"media":[\#(source)]}]"#)
  }

  func media(_ payload: String) -> [MediaReference] {
    read(payload) { engine.references(in: $0, tracing: .paths).references } ?? []
  }

  func misfits(_ payload: String) -> [MediaMisfit] {
    read(payload) { engine.misfits(in: $0) } ?? []
  }

  func urls(_ payload: String) -> [String] {
    media(payload).map(\.url.string)
  }

  func dialect(_ payload: String) -> String? {
    read(payload) { engine.references(in: $0).dialect } ?? nil
  }

  func text(_ payload: String) -> DialectText? {
    read(payload) { engine.text(in: $0) } ?? nil
  }

  func encrypted(_ payload: String) -> (dialect: String, sentence: String)? {
    read(payload) { engine.encrypted(in: $0) } ?? nil
  }

  private func read<Value>(_ payload: String, _ ask: (JSONElement) -> Value) -> Value? {
    parser.parse(copying: payload.utf8).map(ask)
  }
}
