import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments
import Glibc

/// `attache inspect`: reports what attache would do with each payload, and why.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Show for each payload its kind, the media that would be fetched, and what is refused.",
    discussion: """
      Payloads are read from FILE or standard input, one JSON object per line or pretty-printed. Nothing is fetched and no name is looked up, unless \
      --fetch says so.
      """)

  @Argument(help: "The file to read. (default: standard input)")
  var file: String?

  @Flag(help: "Write one JSON object per payload.")
  var json = false

  @Flag(help: "Fetch the media too, as the filter would, and show the result of each.")
  var fetch = false

  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions
  @OptionGroup(title: "Time") var timing: TimingOptions
  @OptionGroup(title: "Store") var storage: StoreOptions

  func validate() throws {
    guard Validation.isOn else { return }
    try payloads.checkAddress()
  }

  func run() throws {
    let input = try PayloadFile(file)
    let inspector = Inspector(try payloads.inspection(fetching, maximumAttachments: timing.maxAttachments))
    let trial = fetch ? try FetchTrial(EngineConfiguration(timing, payloads, fetching, storage), notice: fetching.notice) : nil
    defer { trial?.shutdown() }
    let text = InspectionText(width: TerminalStyle.width(STDOUT_FILENO), isColoured: TerminalStyle.takesEscapes(STDOUT_FILENO))
    var isFirst = true
    try input.forEach { payload in
      for var inspection in inspector.inspect(payload) {
        try trial?.fetch(&inspection)
        if json {
          try StandardOutput.write(String(decoding: inspection.json(), as: UTF8.self) + "\n")
        } else {
          try StandardOutput.write((isFirst ? "" : "\n") + text.text(of: inspection))
        }
        isFirst = false
      }
    }
  }
}

extension PayloadOptions {
  /// Returns the inspection that these flags describe.
  func inspection(_ fetching: FetchOptions, maximumAttachments: Int) throws -> Inspector.Configuration {
    Inspector.Configuration(
      try configuration(), policy: fetching.configuration.policy, converts: fetching.convert, maximumAttachments: maximumAttachments)
  }
}
