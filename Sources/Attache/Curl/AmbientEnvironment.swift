internal import Glibc

/// The variables by which an environment would change what the libraries below do, and for which
/// those have no option.
///
/// Everything else is overruled where it is read: the proxies' variables and .netrc by options of
/// libcurl's, `SSL_CERT_FILE` and `SSL_CERT_DIR` by naming the roots, `LOCALDOMAIN`, `RES_OPTIONS`,
/// `HOSTALIASES` and `CARES_HOSTS` by options of c-ares'.
public enum AmbientEnvironment {
  /// What is taken away, and what it would do.
  static let names = [
    "SSLKEYLOGFILE",  // libcurl writes the keys of every TLS connection there
    "CURL_SSL_BACKEND",  // another TLS library, where libcurl has several
    "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE",  // weaker ciphers, modules to load; the system's own openssl.cnf stays in force
    "OPENSSL_ENGINES", "OPENSSL_MODULES",  // folders that code is loaded from
    "MAGIC",  // another database of libmagic
  ]

  /// Takes them out of this process's environment.
  ///
  /// `attache` calls it first of all. A program that uses the library does so too, before it starts
  /// a thread: the environment of a process is not safe to change beside readers (unsetenv(3)). A
  /// fetcher that is made without it does what the variables say.
  public static func removeUnsafeVariables() {
    for name in names { unsafe unsetenv(name) }
  }
}
