require "json"
module Shop
  LIMIT = 10
  class Client < Base
    attr_accessor :host, :port
    def initialize(host)
      local = 1
    end
    def self.open(host) = new(host)
    class << self
      def make; end
    end
    def ready?; true; end
    private def hidden; end
  end
end
class Shop::Other
  def run; end
end
def main(a, b = 1)
end
