import CGroundwork
import Foundation
import FoundationNetworking
import OriginalFoundation

/// Errors of transfers, as Apple's Foundation has them. Foundation for Linux has one code for most of libcurl's.
enum TransferFailure {
  /// Returns the error that Apple's Foundation gives.
  ///
  /// - Parameter error: an error of Foundation for Linux.
  static func refining(_ error: (any Error)?) -> (any Error)? {
    guard let error = error as? URLError else { return error }
    // Foundation is sure of all other codes.
    guard [.unknown, .unsupportedURL, .badServerResponse].contains(error.code), let url = error.failureURLString else { return error }
    return code(groundwork_failure(url)).map { URLError($0, userInfo: described(error, $0)) } ?? error
  }

  /// Returns the code for a failure.
  ///
  /// - Parameter failure: libcurl's code (https://curl.se/libcurl/c/libcurl-errors.html), or one of this library.
  /// - Returns: nil where Foundation's code stays.
  private static func code(_ failure: Int32) -> URLError.Code? {
    switch failure {
    case Int32(groundwork_insecure): .appTransportSecurityRequiresSecureConnection
    // An answer that is not HTTP.
    case 1, 8: .cannotParseResponse
    case 35, 53, 54, 58, 59, 66, 77, 80: .secureConnectionFailed
    // People report one code for a certificate that is expired, has another name, or comes from an unknown issuer.
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

extension URLSession {
  /// Creates a task that receives the whole body.
  public func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    BackgroundSessions.shared.refuseHandler(of: self)
    let watch = ResourceTimeout(configuration.timeoutIntervalForResource)
    let task = originalDataTask(self, request) { data, response, error in
      watch.end()
      completionHandler(data, response, TransferFailure.refining(watch.replacing(error)))
    }
    watch.begin(task)
    return task
  }

  /// Creates a task that receives the whole body.
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  /// Creates a task that sends `bodyData` and receives the whole body of the answer.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    originalUploadTask(self, request, bodyData) { completionHandler($0, $1, TransferFailure.refining($2)) }
  }

  /// Receives the whole body.
  public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    try await TransferFailure.refining { try await originalData(self, request, delegate) }
  }

  /// Receives the whole body.
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Downloads to a temporary file, which the caller removes.
  public func download(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (URL, URLResponse) {
    if let url = request.url, let file = DataURL.file(url) {
      return (file, URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
    }
    return try await TransferFailure.refining { try await originalDownload(self, request, delegate) }
  }

  /// Downloads to a temporary file, which the caller removes.
  public func download(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends `bodyData`, and receives the whole body of the answer.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await TransferFailure.refining { try await originalUpload(self, request, bodyData, delegate) }
  }
}
