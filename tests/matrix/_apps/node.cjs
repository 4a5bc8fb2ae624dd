const { Session, toMessages } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

scenario({ Session, toMessages }).then(console.log)
