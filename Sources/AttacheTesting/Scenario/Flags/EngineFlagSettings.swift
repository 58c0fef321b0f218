internal import Attache

/// The settings that flags make. It reads flags as the command line does.
struct EngineFlagSettings {
  var engine: EngineConfiguration
  var dialects: [String] = []
  var mediaKeys: [JSONPointer] = []
  var dialectFiles: [DialectFile] = []
  var isStrictAboutDialects = false
  var conversion = ConversionFlags()
  var upload = UploadFlags()

  /// Returns a configuration that flags change. Of flags that exclude each other, the last counts.
  ///
  /// - Parameter credentials: the file of `--upload-credentials`, if the flags have `--upload`.
  static func apply(
    _ flags: [String], to configuration: EngineConfiguration, credentials: String? = nil
  ) throws(EngineFlagMistake) -> EngineConfiguration {
    var settings = EngineFlagSettings(engine: configuration)
    try settings.read(flags)
    if settings.upload.location != nil, settings.upload.credentials == nil { settings.upload.credentials = credentials }
    try settings.finish()
    return settings.engine
  }

  private mutating func read(_ words: [String]) throws(EngineFlagMistake) {
    var (rest, strays) = (words[...], [String]())
    while let word = rest.popFirst() {
      guard word.isFlag else {
        strays.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard let flag = EngineFlag.named(parts[0]), let set = flag.set else { throw EngineFlagMistake("Unknown option '\(parts[0])'") }
      var text = parts.dropFirst().first
      if let valueName = flag.valueName {
        if text == nil, rest.first?.isFlag == false { text = rest.popFirst() }
        if text == nil { throw EngineFlagMistake("Missing value for '\(flag.name) <\(valueName)>'") }
      } else if let text {
        throw EngineFlagMistake("The option '\(flag.name)' does not take any value, but '\(text)' was specified.")
      }
      do { try set(&self, EngineFlagValue(flag: flag, text: text ?? "")) } catch { throw EngineFlagMistake("\(error)") }
    }
    if let stray = strays.first {
      throw EngineFlagMistake(
        strays.count == 1 ? "Unexpected argument '\(stray)'" : "\(strays.count) unexpected arguments: '\(strays.joined(separator: "', '"))'"
      )
    }
  }

  /// Checks the values together.
  private mutating func finish() throws(EngineFlagMistake) {
    do {
      engine.filter.dialects = try DialectTable(
        names: dialects.isEmpty ? nil : dialects, mediaKeys: mediaKeys, files: dialectFiles, isStrict: isStrictAboutDialects)
    } catch {
      throw EngineFlagMistake("--dialect: \(error)")
    }
    if let mistake = conversion.mistake { throw EngineFlagMistake(mistake) }
    engine.fetching.steps = conversion.steps
    do throws(UploadFlagMistake) { try engine.use(upload) } catch { throw EngineFlagMistake("\(error)") }
    if let mistake = engine.filter.mistake { throw EngineFlagMistake(mistake) }
    if let grace = engine.grace, grace >= engine.filter.deadline {
      throw EngineFlagMistake("--grace must be shorter than --deadline: nothing would be fetched.")
    }
  }
}

extension String {
  /// Whether a word of a command line is a flag, not a value.
  var isFlag: Bool { utf8.first == UInt8(ascii: "-") }
}
