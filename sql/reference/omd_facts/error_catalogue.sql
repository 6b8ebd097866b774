-- The errors of facts. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- The key that is inserted exists. For example: two users insert the same customer.
    'OM051', 'FactExists', '{entity_code} {key} exists',
    'UPDATE it instead.'
),
(
    -- A key was to be changed. For example: an UPDATE gives a customer another number.
    'OM052', 'KeyChanged', 'the key of {entity_code} {key} can''t change',
    'DELETE the row and INSERT another one.'
),
(
    -- A key or mandatory attribute has no value. For example: an INSERT leaves out an attribute
    -- that the model calls mandatory.
    'OM053', 'ValueMissing',
    '{entity_code} {key}: "{attribute}" must have a value',
    'Give it a value.'
),
(
    -- The parent that is named does not exist. For example: a booking names a flight that nobody
    -- has inserted.
    'OM054', 'ParentMissing',
    '{entity_code} {key}: the parent of "{relationship}" does not exist',
    'Insert the parent first.'
),
(
    -- Children of the row exist. For example: a flight is deleted, and bookings of it are there.
    'OM055', 'ChildrenExist', '{entity_code} {key} has children in {child}',
    'Delete the children first.'
),
(
    -- An immutable attribute was to be changed. For example: an UPDATE changes the date of birth,
    -- which the model calls immutable.
    'OM056', 'FactImmutable', '{entity_code} {key}: "{context}" is immutable',
    'Leave its attributes as they are.'
),
(
    -- The values of an alternate key are taken. For example: two customers get the same e-mail
    -- address, which is an alternate key.
    'OM057', 'AlternateKeyTaken',
    '{entity_code} {key}: the values of "{context}" are those of another row',
    'Give it other values.'
),
(
    -- A column of the house was to be written. For example: an INSERT names acm_valid_from.
    'OM058', 'SystemColumnSet',
    '{entity_code} {key}: the columns acm_ are not written',
    'Name attributes only.'
),
(
    -- A control answers an attribute that there is not. For example: a control answers a key that
    -- was renamed in the model.
    'OM059', 'ControlAnswerUnknown',
    'control "{control_code}" answers "{attribute}", which is no attribute',
    'Mend the function of the control.'
),
(
    -- An argument of an export is refused, or there is nothing to export. For example: an export is
    -- asked for as of a moment that lies ahead.
    'OM060', 'InvalidExport', '{argument} can''t be {value}: {problem}',
    'See docs/explanation/facts.md.'
),
(
    -- A value is one that no delivery may bring. For example: a number is NaN or Infinity.
    'OM061', 'ValueOutOfRange',
    '{entity_code} {key}: "{attribute}" can''t be {value}: {problem}',
    'Give it a value that a delivery may bring, or NULL.'
),
(
    -- The agreement of the delivery does not name the row, or its entity. For example: a delivery
    -- for flights is open, and a row of bookings is written under it.
    'OM062', 'RowNotAgreed',
    '{entity_code} {key} is not of agreement "{agreement_code}": {problem}',
    'Write under a delivery of another agreement: SELECT * FROM omd_report.facts_deliveries;'
),
(
    -- The setting omd_facts.delete_type has a wrong word. For example: SET omd_facts.delete_type =
    -- 'HARD'.
    'OM063', 'DeleteTypeUnknown',
    'omd_facts.delete_type can''t be {value}',
    'SET omd_facts.delete_type = ''PHYSICAL''; or RESET omd_facts.delete_type;'
),
(
    -- The delivery was opened by another login. For example: a job uses the delivery that a person
    -- has opened in psql.
    'OM069', 'DeliveryOfAnother',
    'delivery {delivery_id} belongs to the login {opened_by}',
    'CALL omd_facts.open_delivery(…) under an agreement of your own; omd_admin may close it.'
),
(
    -- The session names no open delivery of the interface. For example: a session writes after it
    -- has closed its delivery.
    'OM150', 'NoOpenDelivery',
    'delivery {delivery_id} is no open one of interface "{interface_code}"',
    'CALL omd_facts.open_delivery(…);'
),
(
    -- An LVL delivery of the interface is not at an end. For example: rows are written by hand
    -- while a nightly delivery is applied.
    'OM151', 'WritesBlocked',
    'delivery {delivery_id} of interface "{interface_code}" is not at an end',
    'SELECT * FROM omd_report.delivery_state;'
),
(
    -- The agreement has an open delivery. For example: a second delivery is opened under the same
    -- agreement.
    'OM152', 'DeliveryOpen',
    'delivery {delivery_id} under "{agreement_code}" is open',
    'CALL omd_facts.close_delivery({delivery_id});'
),
(
    -- An LVL delivery of the interface is not at an end. For example: a resync is asked for while a
    -- delivery is applied.
    'OM154', 'ResyncBlocked',
    'delivery {delivery_id} of interface "{interface_code}" is not at an end',
    'CALL omd_facts.load_all({interface_code_literal});'
),
(
    -- An export was published or cancelled. For example: an export is resumed that was cancelled.
    'OM155', 'ExportEnded', 'export {delivery_id} is {delivery_status}',
    'CALL omd_facts.create_export(…);'
),
(
    -- The delivery does not allow to delete physically. For example: a row is deleted physically
    -- under a delivery that was opened without p_physical_delete_allowed.
    'OM156', 'PhysicalDeleteRefused',
    'delivery {delivery_id} does not allow to delete physically',
    'CALL omd_facts.open_delivery(…, p_physical_delete_allowed => true);'
),
(
    -- The row was changed since the statement read it. For example: two users update the same row
    -- at once.
    'OM157', 'FactOvertaken',
    '{entity_code} {key} was changed by another transaction',
    'Repeat the statement.'
),
(
    -- A block of changes needs keys that are purged. For example: a topic stood still for longer
    -- than the changes are kept.
    'OM158', 'ChangesPurged',
    'the changes of interface "{interface_code}" after {after} are purged up to {purged}',
    'Read from the beginning, p_after 0: a topic by RELOAD, a stage with another window.'
),
(
    -- Runs that read the facts keep rows from being taken back. For example: an export reads while
    -- a load is undone.
    'OM159', 'ReadersAtWork',
    'the facts of interface "{interface_code}" are being read by {readers}',
    'Wait for them to end, then call again.'
),
(
    -- The entities of an interface do not keep their changes. For example: a topic reads changes of
    -- an entity that does not record them.
    'OM254', 'ChangesNotKept',
    'no changes are kept: {object} of interface "{interface_code}"',
    'Add "changes": true to the facts of the entity in the model, and deploy both.'
),
(
    -- A row of an item breaks what the facts must hold; the detail names its key. For example: a
    -- row of the queue has a parent that was deleted by hand.
    'OM161', 'ItemRefused',
    'interface "{interface_code}", {entity_code} {key}, context "{context}": {problem}',
    'CALL omd_delivery.revert_delivery({delivery_id}, …); or mend what is in the way, and load.'
),
(
    -- No file can hold a value. For example: a moment lies outside of the years that a Parquet file
    -- can hold.
    'OM162', 'ValueNotExported',
    '{entity_code}: "{attribute}" is {value}, which no file can hold',
    'UPDATE the row, then resume the export.'
),
(
    -- Readers or writers keep the views of an interface from being changed. For example: a report
    -- reads a view for minutes while its model is deployed.
    'OM160', 'ViewsNotHeld',
    'the views of interface "{interface_code}" can''t be changed: {problem}',
    'CALL omd_facts.hold_views({interface_code_literal}); before all else in the transaction.'
),
(
    -- A load can't be undone; the detail says why. For example: a later load stands, or rows were
    -- written through views since.
    'OM153', 'LoadNotUndone',
    'load {module_instance_id} can''t be undone: {problem}',
    'SELECT * FROM omd_report.facts_loads;'
),
(
    -- What a model says for the facts can't be. For example: a bitemporal context has no date or
    -- timestamp as its own key.
    'OM250', 'InvalidFacts', '"facts" of entity "{entity_code}": {problem}',
    'Mend the model: see docs/explanation/facts.md.'
),
(
    -- The facts of an interface are not deployed, or an older version of them is. For example: a
    -- model was deployed, and its facts were not.
    'OM251', 'FactsNotDeployed',
    'the facts of interface "{interface_code}": {problem}',
    'CALL omd_facts.deploy({interface_code_literal});'
),
(
    -- A deployment would give stored facts another meaning. For example: a context becomes
    -- multi-active while there are facts of it.
    'OM252', 'FactsWouldChange',
    '{object} of interface "{interface_code}": {problem}',
    'Give what is new a name of its own, or keep the model as it was.'
),
(
    -- A control is no SECURITY DEFINER function of the right signature. For example: the function
    -- of a control takes other arguments.
    'OM253', 'InvalidControl', 'control "{control_code}": {problem}',
    'CREATE FUNCTION … (p_operation text, p_old jsonb, p_new jsonb) RETURNS jsonb … SECURITY '
    'DEFINER …;'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
