@testable import Attache

/// How a file of each of Apple's types begins.
enum MagicBytes {
  static func begin(_ body: [UInt8], _ type: MediaType) -> Bool {
    switch type {
    case .jpeg: body.starts(with: [0xFF, 0xD8, 0xFF])
    case .png: body.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    case .gif: body.starts(with: "GIF87a".utf8) || body.starts(with: "GIF89a".utf8)
    case .aiff: body.starts(with: "FORM".utf8) && ["AIFF", "AIFC"].contains(word(body, 8))
    case .wave: body.starts(with: "RIFF".utf8) && word(body, 8) == "WAVE"
    case .avi: body.starts(with: "RIFF".utf8) && word(body, 8) == "AVI "
    case .mp3: body.starts(with: "ID3".utf8) || body.count > 1 && body[0] == 0xFF && body[1] & 0xE6 == 0xE2
    case .mpeg4, .mpeg4Audio: word(body, 4) == "ftyp"
    case .mpeg: body.starts(with: [0, 0, 1, 0xBA]) || body.starts(with: [0, 0, 1, 0xB3])
    case .mpeg2: body.starts(with: [0, 0, 1, 0xB3])
    }
  }

  private static func word(_ body: [UInt8], _ offset: Int) -> String {
    String(decoding: body.dropFirst(offset).prefix(4), as: UTF8.self)
  }
}
