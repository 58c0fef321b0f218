import CExtensionRuntime
import Foundation
import FoundationNetworking

/// Gives failed transfers the codes of Apple's Foundation. Foundation for Linux maps most codes of
/// libcurl to one.
enum TransferFailure {
  /// Returns the error that Apple's Foundation gives.
  ///
  /// - Parameter error: an error of Foundation for Linux.
  static func refining(_ error: (any Error)?) -> (any Error)? {
    guard let error = error as? URLError else { return error }
    // All other codes are right.
    guard [.unknown, .unsupportedURL, .badServerResponse].contains(error.code), let url = error.failureURLString else { return error }
    return code(runtime_failure(url)).map { URLError($0, userInfo: described(error, $0)) } ?? error
  }

  /// Returns the code for a failure.
  ///
  /// - Parameter failure: libcurl's code (https://curl.se/libcurl/c/libcurl-errors.html), or one of this library.
  /// - Returns: nil where Foundation's code stays.
  private static func code(_ failure: Int32) -> URLError.Code? {
    switch failure {
    case Int32(runtime_insecure): .appTransportSecurityRequiresSecureConnection
    // An answer that is not HTTP.
    case 1, 8: .cannotParseResponse
    case 35, 53, 54, 58, 59, 66, 77, 80: .secureConnectionFailed
    // Developers report one code for an expired certificate, another host's, and an unknown issuer's.
    case 51, 60: .serverCertificateUntrusted
    // A body or an answer that was cut off, a connection that broke, and a stream of HTTP/2 that the server ended.
    case 16, 18, 52, 55, 56, 92: .networkConnectionLost
    case 61: .cannotDecodeRawData
    default: nil
    }
  }

  private static func described(_ error: URLError, _ code: URLError.Code) -> [String: Any] {
    guard code == .appTransportSecurityRequiresSecureConnection else { return error.userInfo }
    let sentence =
      "The resource could not be loaded because the App Transport Security policy requires the use of a secure connection."
    return error.userInfo.merging([NSLocalizedDescriptionKey: sentence]) { $1 }
  }

  /// Returns what `body` returns, or throws the error that Apple's Foundation throws.
  static func refining<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw refining(error) ?? error
    }
  }
}
