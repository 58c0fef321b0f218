import ArgumentParser
import Attache
import AttacheArguments
import AttacheInspection
import Foundation

/// `attache preview`: writes a page that shows notifications as people see them.
struct Preview: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview", abstract: "Write a web page that shows each notification before and after, as a lock screen shows it.",
    discussion: """
      The payloads in FILE go through the filter, with the flags after "--". With --report, nothing is fetched: FILE is then the output of a run, and the \
      flags after "--" are those of that run.

          attache preview payloads.ndjson -o page.html -- --deadline 5s --convert
          attache preview --report report.ndjson output.ndjson -o page.html

      The page loads nothing from elsewhere. A page.html contains up to 20 MB of media; a folder has the media beside its index.html.
      """)

  @Argument(help: "The file to read; - is standard input. One JSON object per line, or pretty-printed.")
  var file: String

  @Option(name: [.short, .long], help: ArgumentHelp("The page to write: a name that ends in .html, or a folder.", valueName: "file|dir"))
  var output: String

  @Option(
    help: ArgumentHelp(
      "The report of a run whose output is FILE. The lines of the output must be in the order of the input.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("The input of that run, to show what was before. (default: the output, without media)", valueName: "file"))
  var input: String?

  @Option(
    help: ArgumentHelp("A JSON file with the app's categories, for the buttons.", valueName: "file"),
    transform: { try NotificationCategories(contentsOf: $0) })
  var categories: NotificationCategories?

  @Option(help: ArgumentHelp("The name of the app in the pictures.", valueName: "name"))
  var app = "App"

  @Argument(parsing: .postTerminator, help: "After --: the flags of the filter.")
  var flags: [String] = []

  func validate() throws {
    guard Validation.isOn else { return }
    if output.isEmpty { throw ValidationError("--output is empty; name a page such as page.html, or a folder") }
    if input != nil, report == nil { throw ValidationError("--input belongs to --report; without it, FILE is the input") }
    for flag in FilterFlags.reserved {
      if flags.contains(where: { $0 == flag || $0.hasPrefix(flag + "=") }) {
        throw ValidationError("\(flag) cannot stand after --: attache preview needs the output in order, and a report of its own")
      }
    }
    do {
      _ = try FilterFlags.parse(flags)
    } catch {
      throw ValidationError("after --: \(FilterFlags.message(for: error))")
    }
  }

  func run() throws {
    DescriptorLimit.require(32)
    CommandThread.require(4)
    let flags = try FilterFlags.parse(flags)
    let work = try WorkFolder()
    defer { work.remove() }
    let run =
      if let report { try PreviewRun(output: file, report: report, input: input, store: flags.store) } else {
        try PreviewRun(playing: file, self.flags, store: flags.storage.store, in: work)
      }
    let builder = try ItemBuilder(flags, categories ?? NotificationCategories())
    let items = try run.items(builder)
    let page = PreviewPage(
      title: file == "-" ? "standard input" : PrintableText.of(URL(fileURLWithPath: file).lastPathComponent), app: app, items: items)
    try page.write(to: PageTarget(output), media: StoredMedia(folder: run.store))
  }
}
