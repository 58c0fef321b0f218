import ArgumentParser

/// The flags for sending payloads to Apple or to Google.
struct PushOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The member with the attachments. It is not sent if they have file URLs.", valueName: "key"))
  var outputKey = "attache"

  @Option(
    help: ArgumentHelp("Add the device tokens that Apple or Google calls invalid to a file, one JSON object a line.", valueName: "file"))
  var invalidTokens: String?
}
