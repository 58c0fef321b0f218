internal import ArgumentParser

/// The flags for the order in which a filter writes its lines.
package struct OrderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The memory for finished lines that wait for an earlier one.", valueName: "size"))
  package var window = ByteCountArgument(8_000_000, as: "8MB")

  @Flag(help: "Write each line as soon as it is finished. (default: input order)")
  package var unordered = false

  package init() {}
}
