import AttacheTesting
import Foundation

extension ReportLine {
  static func read(_ path: String) throws -> [ReportLine] {
    try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n")).map { try ReportLine(parsing: $0) }
  }
}
