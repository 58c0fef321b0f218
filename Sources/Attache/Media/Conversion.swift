/// A step between "all bytes are there" and "the file is attached". It makes another file of the
/// one that was downloaded.
public enum MediaStep: Hashable, Sendable {
  /// Converts a picture that Apple does not accept as it is.
  case convert(Conversion)
}

/// The limits of a conversion: how large a picture may be before it, and how large its sides may be
/// after it. The bytes and the pixels of the result are limited by ``MediaLimits``.
public struct Conversion: Hashable, Sendable {
  /// The largest ``maximumSide``, which is the largest side of a JPEG.
  package static let largestSide = 65_535

  /// The longest side of a picture that is attached, in pixels. A larger picture is shrunk.
  public var maximumSide: Int
  /// The maximum size of a picture that is downloaded, in bytes. A picture within ``MediaLimits``
  /// is downloaded as well.
  public var sourceBytes: Int
  /// The maximum number of pixels that are decoded of a picture, with all frames of an animation.
  public var sourcePixels: Int

  /// Makes limits. The defaults are 2,048 pixels, 50 MB (of 1,000,000 bytes) and 150 million pixels.
  public init(maximumSide: Int = 2_048, sourceBytes: Int = 50_000_000, sourcePixels: Int = 150_000_000) {
    self.maximumSide = maximumSide
    self.sourceBytes = sourceBytes
    self.sourcePixels = sourcePixels
  }

  /// Returns whether a picture of an accepted type must become smaller.
  ///
  /// - Parameter bytes: the size of its file.
  func shrinks(bytes: Int, width: Int, height: Int, limits: MediaLimits) -> Bool {
    !limits.acceptsPicture(bytes: bytes, width: width, height: height) || max(width, height) > maximumSide
  }
}

extension [MediaStep] {
  /// The conversion, if there is one.
  var conversion: Conversion? {
    lazy.map { step in
      switch step {
      case .convert(let conversion): conversion
      }
    }.first
  }

  /// Describes the steps and all limits that their results depend on. Two runs may share results if
  /// their identities are equal. It is empty without steps.
  func identity(_ limits: MediaLimits) -> [UInt8] {
    flatMap { step -> [UInt8] in
      switch step {
      case .convert(let conversion):
        // The first number changes when the same parameters give another result.
        let numbers = [
          1, conversion.maximumSide, conversion.sourceBytes, conversion.sourcePixels, limits.image, limits.pixels,
        ]
        return [UInt8]("convert \(numbers.map(String.init).joined(separator: " "))\n".utf8)
      }
    }
  }
}
