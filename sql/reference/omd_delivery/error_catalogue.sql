-- The errors of delivery. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- The model document is wrong; the detail lists every problem with its path. For example: an
    -- attribute of a model has a type that there is not.
    'OM030', 'InvalidModel',
    'the model has {problem_count} problems; the first: {first}: {problem}',
    'DETAIL lists them all. Mend the document, then deploy it again: CALL '
    'omd_delivery.deploy_model(…, p_dry_run => true);'
),
(
    -- No model of this interface was deployed. For example: an agreement names an interface before
    -- its model is deployed.
    'OM031', 'UnknownInterface', 'interface "{interface_code}" has no model',
    'SELECT interface_code FROM omd_delivery.interface; or CALL omd_delivery.deploy_model(…);'
),
(
    -- No tenant has this code. For example: an agreement is registered before its tenant.
    'OM032', 'UnknownTenant', 'tenant "{tenant_code}" is not registered',
    'CALL omd_delivery.register_tenant({tenant_code_literal}, …);'
),
(
    -- No agreement has this code. For example: a delivery names the agreement of another database.
    'OM033', 'UnknownAgreement', 'agreement "{agreement_code}" is not registered',
    'SELECT agreement_code FROM omd_delivery.agreement; or CALL '
    'omd_delivery.register_agreement({agreement_code_literal}, …);'
),
(
    -- There is no delivery with this id. For example: a number was mistyped, or the delivery was
    -- purged.
    'OM034', 'UnknownDelivery', 'there is no delivery {delivery_id}',
    'SELECT * FROM omd_report.delivery_log;'
),
(
    -- A setting names no constraint of the model. For example: an agreement relaxes a constraint
    -- that the newest model lacks.
    'OM035', 'UnknownConstraint',
    'interface "{interface_code}" has no constraints {constraint_codes}',
    'SELECT constraint_code FROM omd_delivery.model_constraint WHERE NOT is_retired;'
),
(
    -- An agreement or a delivery can't be as this argument says. For example: nothing is handed
    -- over for an entity of the delivery.
    'OM036', 'DeliveryArgumentInvalid', '{argument} can''t be {value}: {problem}',
    'See docs/explanation/delivery.md.'
),
(
    -- An entity was delivered at the same time or later. For example: a file of yesterday is
    -- delivered after that of today.
    'OM037', 'DeliveryOvertaken', 'entity "{entity}" was delivered at {high_water_mark}',
    'Deliver a later state: SELECT * FROM omd_report.delivery_marks;'
),
(
    -- The time of the delivery is in the future. For example: the clock of the supplier is an hour
    -- ahead.
    'OM038', 'DeliveryInFuture', 'the time {snapshot_datetime} of the delivery is in the future',
    'Give the time at which the data was taken from the source.'
),
(
    -- A Full entity has context filters, and none of them is active. For example: an agreement
    -- filters flights by airport, and no airport is delivered.
    'OM039', 'NoContext', 'the Full entity "{entity}" has no context: {problem}: {parents}',
    'Deliver a parent with it, name keys in p_context, or, where the agreement names none, give '
    'the entity "context": "ALL" or "ROWS".'
),
(
    -- The counts of a run do not fit its plan. For example: a program of a receiver reports more
    -- accepted rows than it has read.
    'OM040', 'MeasuresInvalid', 'the measures of {entity} in delivery {delivery_id}: {problem}',
    'SELECT omd_delivery.validation_plan({delivery_id}, 1);'
),
(
    -- The agreement asks for complete deliveries. For example: a folder of an agreement for
    -- complete deliveries lacks one of the files.
    'OM041', 'EntityMissing', 'a delivery under "{agreement_code}" must be complete: {missing}',
    'Deliver these entities too.'
),
(
    -- A constraint can't be set so. For example: a constraint is set to empty a column that is in a
    -- key.
    'OM042', 'ImpossibleSetting', '{path}: {problem}',
    'DETAIL lists all impossible settings. SELECT * FROM omd_delivery.constraint_type;'
),
(
    -- What an agreement says about arrivals is wrong; the detail lists every problem. For example:
    -- the pattern of the folders has no {yyyy}.
    'OM043', 'InvalidArrival',
    'the arrival of agreement "{agreement_code}" has {problem_count} problems; the first: {first}: '
    '{problem}',
    'DETAIL lists them all. Mend p_arrival, then call omd_delivery.register_agreement again.'
),
(
    -- There is no arrival with this id. For example: the arrival is one of another database.
    'OM044', 'UnknownArrival', 'there is no arrival {arrival_id}',
    'SELECT * FROM omd_report.arrivals;'
),
(
    -- The status of the delivery does not allow this. For example: a delivery that was accepted is
    -- cancelled.
    'OM130', 'WrongDeliveryState',
    'delivery {delivery_id} is {delivery_status} and can''t {action}',
    '{next_command}'
),
(
    -- Another delivery of the agreement is not decided yet. For example: the delivery of yesterday
    -- waits for a run, and that of today is created.
    'OM131', 'DeliveryPending',
    'delivery {delivery_id} of agreement "{agreement_code}" is not decided yet '
    '({delivery_status}), and the next one has to wait',
    'Run it, or CALL omd_delivery.cancel_delivery({delivery_id}, …);'
),
(
    -- The run has ended, or a later one has begun: stop the work. For example: the lease of a run
    -- expired, and a later run has taken its delivery over.
    'OM132', 'AttemptFenced',
    'run {attempt} of delivery {delivery_id} has ended; its newest run is {newest_attempt}',
    'Stop this program. SELECT * FROM omd_report.delivery_state WHERE delivery_id = {delivery_id};'
),
(
    -- What was accepted can't be taken back. For example: the run of a delivery is to be undone,
    -- and its rows were accepted.
    'OM133', 'NotReverted', 'delivery {delivery_id} can''t be taken back: {problem}',
    '{next_command}'
),
(
    -- The delta is not what was written, or does not fit the current rows. For example: a program
    -- has written keys into the delta that are not in the current rows.
    'OM134', 'DeltaMisfit', 'the delta of {entity} in delivery {delivery_id}: {problem}',
    'CALL omd_delivery.fail_delivery({delivery_id}, …); then begin again.'
),
(
    -- The facts can't do this with the item of the queue. For example: an item is to be loaded that
    -- waits for an earlier one.
    'OM135', 'QueueItemNotReady', 'item {queue_id} of the queue: {problem}',
    'SELECT * FROM omd_report.delivery_queue;'
),
(
    -- What is to be changed or removed is in use. For example: a tenant is removed that still has
    -- an agreement.
    'OM136', 'InUse', '{object} is in use: {used_by}',
    'Wait for it, or end it: SELECT * FROM omd_report.current_processing;'
),
(
    -- The status of the arrival does not allow this. For example: an arrival that was taken is to
    -- be forgotten.
    'OM137', 'WrongArrivalState',
    'arrival {arrival_id} is {arrival_status} and can''t {action}',
    '{next_command}'
),
(
    -- A work table or a staging table does not take rows of this session now. For example: a
    -- staging table is filled before a delivery is created.
    'OM138', 'RowsRefused', 'rows of {table_name} are refused: {problem}',
    'Create or begin a delivery first: SELECT * FROM omd_report.delivery_state;'
),
(
    -- A delivery that comes again from its files finds others in their place. For example: a
    -- supplier has replaced a file of a delivery that a recall brings again.
    'OM139', 'FilesChanged',
    'the files of {entity} are not those of delivery {delivery_id}: {problem}',
    'CALL omd_provenance.redeliver({recall_id}); makes it one that is brought by hand.'
),
(
    -- Files were changed while a delivery read them. For example: a supplier appends to a file
    -- while the delivery reads it.
    'OM146', 'StagingChanged', '{path} was changed while the delivery read it',
    'Run the delivery again when the files are complete.'
),
(
    -- The folder of a delivery has another content than what was found. For example: a supplier
    -- adds a file to a folder that was found complete.
    'OM147', 'ArrivalChanged', '{folder} has another content than what was found',
    'omd call omd_delivery.cancel_delivery --delivery-id {delivery_id} --reason why; then it is '
    'found again.'
),
(
    -- Rows would be lost or reinterpreted by the model. For example: a new model leaves out an
    -- attribute of which there are values.
    'OM230', 'ModelLosesRows',
    'interface "{interface_code}" has rows that the model would lose or reinterpret: {object}: '
    '{change}',
    'DETAIL lists all such changes. Keep what is no longer delivered with retired: true; give what '
    'is another thing now another name.'
),
(
    -- Current rows break an alternate key of the model. For example: a model gets an alternate key
    -- that is not unique in the rows that are there.
    'OM231', 'AlternateKeyBroken',
    'current rows of "{entity_code}" break the alternate key "{alternate_key_code}" '
    '{attribute_codes}',
    'Deliver the rows without the duplicates, then deploy again.'
),
(
    -- The agreement is inactive, or not effective today. For example: an agreement ended yesterday.
    'OM232', 'AgreementNotEffective', 'agreement "{agreement_code}" {problem}',
    'CALL omd_delivery.register_agreement({agreement_code_literal}, …);'
),
(
    -- A schema of the interface belongs to somebody else. For example: a schema of the same name
    -- was made by hand.
    'OM233', 'SchemaTaken', 'the schema "{schema_name}" belongs to somebody else',
    'Rename the schema, or give the interface another code.'
),
(
    -- The owner of OMD may not create schemas in this database. For example: the database was
    -- restored, and its grants were left out.
    'OM234', 'SchemaNotCreated',
    'omd_owner may not create the schema "{schema_name}" in the database "{database_name}"',
    'GRANT CREATE ON DATABASE {database_ident} TO omd_owner; a database that was copied or '
    'restored may lack it. omd install grants it too.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
