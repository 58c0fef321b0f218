import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments

/// `attache dialects`: prints the table of dialects, or one row with a sample payload.
struct DialectsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dialects", abstract: "List the vendors whose payload formats are known, or show one with a sample payload.",
    discussion: "You can copy the row into your own file, change it, and use the file with --dialects.")

  @Argument(help: "The dialect to show, by name or alias.")
  var name: String?

  @Flag(help: "Write one JSON object per dialect.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "A JSON file with further dialects, listed in the order in which attache tries them. Repeatable.", valueName: "file"),
    transform: { try DialectFile(contentsOf: $0) })
  var dialects: [DialectFile] = []

  func run() throws {
    let table = try DialectTable(files: dialects)
    guard let name else {
      let entries = table.entries
      return try StandardOutput.write(
        json ? entries.map { DialectListing.json($0, isWhole: false) }.joined() : DialectListing.text(entries))
    }
    do {
      let entry = try table.entry(named: name)
      try StandardOutput.write(json ? DialectListing.json(entry, isWhole: true) : DialectListing.text(entry))
    } catch let error as DialectTableError {
      throw ValidationError("\(error)")
    }
  }
}
