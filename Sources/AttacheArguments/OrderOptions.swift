internal import ArgumentParser

/// In which order a filter writes its lines.
package struct OrderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Decided lines that may wait for an earlier one, in bytes.", valueName: "size"))
  package var window = ByteCountArgument(8_000_000, as: "8MB")

  @Flag(help: "Write a line as soon as it is decided. (default: input order)")
  package var unordered = false

  package init() {}
}
