@testable import Attache
@testable import AttacheInspection

/// Inspects texts.
func inspect(_ lines: String..., configure: (inout Inspector.Configuration) -> Void = { _ in }) -> [Inspection] {
  var configuration = Inspector.Configuration()
  configure(&configuration)
  let inspector = Inspector(configuration)
  return lines.enumerated().flatMap { inspector.inspect(InputPayload(line: $0 + 1, bytes: Array($1.utf8))) }
}

func inspect(one line: String, configure: (inout Inspector.Configuration) -> Void = { _ in }) -> Inspection {
  inspect(line, configure: configure)[0]
}
